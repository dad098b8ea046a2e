import { useCallback, useRef, useState, type Dispatch, type SetStateAction } from 'react';
import { SESSION_KEY } from '../session/stored-session';

const OWNER_KEY = 'plinth-owner';

/** How often this window forgot what it kept, since it was loaded. */
let timesForgotten = 0;

interface Keeper {
  read: <Value>(key: string) => Value | undefined;
  keep: (key: string, value: unknown) => void;
}

/** Of whoever is at this window now. Once they left, it finds nothing and keeps nothing: a response may come later. */
export function keeper(): Keeper {
  const before = timesForgotten;
  return {
    read: <Value>(key: string) => {
      const text = timesForgotten === before ? sessionStorage.getItem(key) : null;
      return text === null ? undefined : (JSON.parse(text) as Value);
    },
    keep: (key, value) => {
      if (timesForgotten === before) keep(key, value);
    },
  };
}

/** Keeps it for a reload of the page; what the window has no space for is only shown. Undefined is forgotten. */
export function keep(key: string, value: unknown): void {
  try {
    if (value === undefined) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify(value));
  } catch {
    // A former value would come back as if it were this one.
    sessionStorage.removeItem(key);
  }
}

/**
 * State that a reload of the page does not lose, in this window. A function changes what was kept last, also by another
 * part of the page: the one that waited for a response may be gone.
 */
export function useStoredState<Value>(key: string, initial: Value): [Value, Dispatch<SetStateAction<Value>>] {
  const [{ read, keep }] = useState(keeper);
  const [value, setValue] = useState<Value>(() => read<Value>(key) ?? initial);
  const latest = useRef(value);
  const nothing = JSON.stringify(initial);
  const store = useCallback(
    (change: SetStateAction<Value>) => {
      latest.current = change instanceof Function ? change(read<Value>(key) ?? latest.current) : change;
      setValue(latest.current);
      keep(key, JSON.stringify(latest.current) === nothing ? undefined : latest.current);
    },
    [key, nothing, read, keep],
  );
  return [value, store];
}

/** Forgets it, for whoever is at this window next. */
export function forgetKept(): void {
  timesForgotten++;
  sessionStorage.clear();
}

/** Forgets what others left, whose session ended without their signing out. */
export function keepFor({ userId, tenantId }: { userId: string; tenantId: string }): void {
  const owner = JSON.stringify([tenantId, userId]);
  if (sessionStorage.getItem(OWNER_KEY) === owner) return;
  const session = sessionStorage.getItem(SESSION_KEY);
  forgetKept();
  if (session !== null) sessionStorage.setItem(SESSION_KEY, session);
  sessionStorage.setItem(OWNER_KEY, owner);
}
