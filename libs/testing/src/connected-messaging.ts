import { connectMessaging, type Messaging, type MessagingConfig } from '@plinth/runtime/messaging/nats';
import { silentLog } from '@plinth/runtime/process/log';

/** A bound for what hangs: a process begins without NATS after a moment, which a busy machine takes to connect. */
const MILLISECONDS_MAX = 120_000;

/** Connects to NATS, whose server is there. */
export const connectedMessaging = (config: MessagingConfig): Promise<Messaging> =>
  connectMessaging(config, silentLog(), { startMilliseconds: MILLISECONDS_MAX });
