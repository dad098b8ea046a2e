import { useCallback, useRef, useState, type Dispatch, type SetStateAction } from 'react';

/** Keeps it for a reload of the page; what the window has no space for is only shown. */
export function keep(key: string, value: unknown): void {
  try {
    sessionStorage.setItem(key, JSON.stringify(value));
  } catch {
    // A former value would come back as if it were this one.
    sessionStorage.removeItem(key);
  }
}

/** State that a reload of the page does not lose, in this window. */
export function useStoredState<Value>(key: string, initial: Value): [Value, Dispatch<SetStateAction<Value>>] {
  const [value, setValue] = useState<Value>(() => {
    const text = sessionStorage.getItem(key);
    return text === null ? initial : (JSON.parse(text) as Value);
  });
  const latest = useRef(value);
  const store = useCallback(
    (change: SetStateAction<Value>) => {
      latest.current = change instanceof Function ? change(latest.current) : change;
      setValue(latest.current);
      keep(key, latest.current);
    },
    [key],
  );
  return [value, store];
}
