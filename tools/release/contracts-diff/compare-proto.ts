/** A package, message, enum or service as protobuf.js describes it. */
export interface Descriptor {
  nested?: Record<string, Descriptor>;
  fields?: Record<string, { id: number; type: string; rule?: string; keyType?: string }>;
  values?: Record<string, number>;
  methods?: Record<
    string,
    { requestType: string; responseType: string; requestStream?: boolean; responseStream?: boolean }
  >;
  reserved?: (string | number[])[];
}

/** How changed gRPC descriptions break services of the version before, which run during an upgrade. */
export function breaksOfProto(before: Descriptor, after: Descriptor, place = ''): string[] {
  const nested = Object.entries(before.nested ?? {}).flatMap(([name, was]) => {
    const where = place === '' ? name : `${place}.${name}`;
    const is = after.nested?.[name];
    return is ? breaksOfProto(was, is, where) : [`${where} is gone`];
  });
  return [...breaksOfFields(before, after, place), ...breaksOfMethods(before, after, place), ...nested];
}

function breaksOfFields(before: Descriptor, after: Descriptor, place: string): string[] {
  const now = Object.entries(after.fields ?? {});
  const fields = Object.entries(before.fields ?? {}).flatMap(([name, was]) => {
    const [isName, is] = now.find(([, field]) => field.id === was.id) ?? [];
    if (!is) {
      const isReserved = after.reserved?.some(
        (range) => typeof range !== 'string' && range[0]! <= was.id && was.id <= range[1]!,
      );
      return isReserved ? [] : [`${place}.${name} is gone and its number ${was.id} is not reserved`];
    }
    const same = is.type === was.type && is.rule === was.rule && is.keyType === was.keyType;
    return same ? [] : [`${place}.${isName} (number ${was.id}) is now ${is.rule ?? ''} ${is.type}`];
  });
  const values = Object.entries(before.values ?? {})
    .filter(([name, value]) => after.values?.[name] !== value)
    .map(([name]) => `${place}.${name} is gone or has another number`);
  return [...fields, ...values];
}

function breaksOfMethods(before: Descriptor, after: Descriptor, place: string): string[] {
  return Object.entries(before.methods ?? {}).flatMap(([name, was]) => {
    const is = after.methods?.[name];
    if (!is) return [`${place}.${name} is gone`];
    const same =
      is.requestType === was.requestType &&
      is.responseType === was.responseType &&
      is.requestStream === was.requestStream &&
      is.responseStream === was.responseStream;
    return same ? [] : [`${place}.${name} has another request or response`];
  });
}
