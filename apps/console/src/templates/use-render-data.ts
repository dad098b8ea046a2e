import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useMemo, useState } from 'react';
import { validationQuery, type TemplateKey } from '../api/templates';
import { completed, shapeOf, type Data } from './sample-data';
import { useDebounced } from './use-debounced';
import { useSampleData } from './use-sample-data';

const QUIET_MILLISECONDS = 350;

/** What a text reads and what is wrong with it, once that is asked for, and the data to look at it with. */
export function useRenderData(key: TemplateKey, content: string, isAsked = true) {
  const { data: newest, isPlaceholderData } = useQuery({
    ...validationQuery(key, content),
    enabled: isAsked && content !== '',
  });
  // Deferred with the text that was looked through: another one may be there by then.
  const { validation, looked } = useDeferredValue(
    useMemo(
      () => ({ validation: newest, looked: isPlaceholderData ? undefined : content }),
      [newest, isPlaceholderData, content],
    ),
  );
  const [written, setWritten] = useSampleData(key);
  // While there are errors, the variables are those from before.
  const [variables, setVariables] = useState(validation?.variables);
  if (validation?.isValid && validation.variables !== variables) setVariables(validation.variables);
  const shape = useMemo(() => shapeOf(variables?.modelVariables ?? []), [variables]);
  const data = useMemo(() => completed(written ?? undefined, shape) as Data, [written, shape]);
  const settled = useDebounced(written, QUIET_MILLISECONDS);
  const settledData = useMemo(() => completed(settled ?? undefined, shape) as Data, [settled, shape]);
  return {
    variables,
    errors: validation?.errors ?? NO_ERRORS,
    /** The text was looked through, and has no errors. */
    isSound: looked === content && validation?.isValid === true,
    shape,
    data,
    /** The same once nobody writes in it any more. */
    settledData,
    setData: setWritten,
  };
}

const NO_ERRORS: readonly never[] = [];
