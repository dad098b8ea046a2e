import { useTexts } from '../texts/texts';

interface TraceLinkProps {
  traceId: string | null;
  /** Where traces are looked at; null where nobody said. */
  tracesUrl: string | null;
}

const SHORT = 8;

/** The way to a trace; where there is none, its id to search for. */
export function TraceLink({ traceId, tracesUrl }: TraceLinkProps) {
  const { t } = useTexts();
  if (traceId === null) return '–';
  const short = traceId.slice(0, SHORT);
  if (tracesUrl === null)
    return (
      <code className="small" title={traceId}>
        {short}
      </code>
    );
  return (
    <a href={tracesUrl.replace('{traceId}', traceId)} target="_blank" rel="noreferrer">
      {t('Console.operations.openTrace', { id: short })}
    </a>
  );
}
