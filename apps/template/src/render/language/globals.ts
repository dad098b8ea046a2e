import { add, compareValues } from './operators';
import type { Meter } from './meter';
import { Callable, isTruthy, type Value } from './values';

/** The functions that every template has: those of Nunjucks. */
export function globals({ meter }: { meter: Meter }): [string, Value][] {
  return [
    ['range', new Callable('range', (args) => range(args, meter))],
    ['cycler', new Callable('cycler', cycler)],
    ['joiner', new Callable('joiner', ([separator]) => joiner(separator))],
  ];
}

function range([first, second, third]: Value[], meter: Meter): Value[] {
  const start = second === undefined ? 0 : first;
  const stop = second === undefined ? first : second;
  const step = second === undefined || !isTruthy(third) ? 1 : third;
  const isBefore = compareValues('>', step, 0, meter) ? '<' : '>';
  const numbers: Value[] = [];
  for (let next = start; compareValues(isBefore, next, stop, meter);) {
    meter.make(1);
    numbers.push(next);
    next = add(next, step, meter, (left, right) => {
      meter.make(left.length + right.length);
      return left + right;
    });
  }
  return numbers;
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
    return undefined;
  };
  state.set('next', new Callable('next', advance));
  state.set('reset', new Callable('reset', reset));
  return state;
}

function joiner(given: Value): Value {
  const separator = isTruthy(given) ? given : ',';
  let isFirst = true;
  return new Callable('joiner', () => {
    if (!isFirst) return separator;
    isFirst = false;
    return '';
  });
}
