import { useState } from 'react';

/** State that a reload of the page does not lose, in this window. */
export function useStoredState<Value>(key: string, initial: Value): [Value, (value: Value) => void] {
  const [value, setValue] = useState<Value>(() => {
    const text = sessionStorage.getItem(key);
    return text === null ? initial : (JSON.parse(text) as Value);
  });
  const store = (next: Value) => {
    setValue(next);
    sessionStorage.setItem(key, JSON.stringify(next));
  };
  return [value, store];
}
