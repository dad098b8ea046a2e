import type { Meter } from './meter';
import { TemplateError } from './syntax';
import { Callable, toNumber, type Value } from './values';

/** The functions that every template has: those of Nunjucks. */
export function globals({ meter }: { meter: Meter }): [string, Value][] {
  return [
    ['range', new Callable('range', (args) => range(args.map(toNumber), meter))],
    ['cycler', new Callable('cycler', cycler)],
    ['joiner', new Callable('joiner', ([separator]) => joiner(separator))],
  ];
}

function range(numbers: number[], meter: Meter): Value[] {
  const [start, stop, step = 1] = numbers.length === 1 ? [0, numbers[0]!] : numbers;
  if (start === undefined || stop === undefined || !numbers.every(Number.isFinite) || step === 0) {
    throw new TemplateError('range() takes numbers: stop, or start, stop and step.', undefined);
  }
  const length = Math.max(0, Math.ceil((stop - start) / step));
  meter.make(length);
  return Array.from({ length }, (_, index) => start + index * step);
}

function cycler(values: Value[]): Value {
  let next = 0;
  const state = new Map<string, Value>([['current', null]]);
  const advance = (): Value => {
    const value = values[next];
    state.set('current', value);
    next = (next + 1) % Math.max(values.length, 1);
    return value;
  };
  const reset = (): Value => {
    next = 0;
    state.set('current', null);
    return '';
  };
  state.set('next', new Callable('next', advance));
  state.set('reset', new Callable('reset', reset));
  return state;
}

function joiner(separator: Value = ','): Value {
  let isFirst = true;
  return new Callable('joiner', () => {
    if (!isFirst) return separator;
    isFirst = false;
    return '';
  });
}
