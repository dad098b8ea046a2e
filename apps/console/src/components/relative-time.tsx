import { useTexts } from '../texts/texts';

interface RelativeTimeProps {
  /** In ISO 8601. */
  instant: string;
  className?: string;
}

/** How long ago something happened; the exact time is its title. */
export function RelativeTime({ instant, className }: RelativeTimeProps) {
  const { relative, dateTime } = useTexts();
  return (
    <time className={className} dateTime={instant} title={dateTime(instant)}>
      {relative(instant)}
    </time>
  );
}
