import { ServiceAddress } from './service-address.ts';
import type { AddressReport, AddressRequest } from './service-addresses.ts';

/** The process that `ServiceAddresses` starts. */
// Whoever started it may be killed.
process.on('disconnect', () => process.exit());
const addresses = new Map<number, ServiceAddress>();
const report = (message: AddressReport): void => void process.send!(message);

process.on('message', (request: AddressRequest) => {
  const { at } = request;
  if (request.kind === 'open') {
    const address = new ServiceAddress((adminPorts) => report({ kind: 'ready', at, adminPorts }));
    addresses.set(at, address);
    void address.open().then((port) => report({ kind: 'open', at, port }));
  } else if (request.kind === 'add') addresses.get(at)!.add(request.replica);
  else addresses.get(at)!.remove(request.replica);
});
