/** Numbers that know how often one of them was looked at. */
export function countedReads(numbers: readonly number[]) {
  let reads = 0;
  const counted = new Proxy([...numbers], {
    get: (target, name, receiver) => {
      if (typeof name === 'string' && /^\d+$/.test(name)) reads++;
      return Reflect.get(target, name, receiver) as unknown;
    },
  });
  return { counted, reads: () => reads };
}
