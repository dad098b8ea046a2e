import { useCallback, useState, type Dispatch, type SetStateAction } from 'react';

/** State that a reload of the page does not lose, in this window. */
export function useStoredState<Value>(key: string, initial: Value): [Value, Dispatch<SetStateAction<Value>>] {
  const [value, setValue] = useState<Value>(() => {
    const text = sessionStorage.getItem(key);
    return text === null ? initial : (JSON.parse(text) as Value);
  });
  const store = useCallback(
    (change: SetStateAction<Value>) =>
      setValue((before) => {
        const next = change instanceof Function ? change(before) : change;
        sessionStorage.setItem(key, JSON.stringify(next));
        return next;
      }),
    [key],
  );
  return [value, store];
}
