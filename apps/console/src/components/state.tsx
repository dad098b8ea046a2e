import { ApiProblem } from '@plinth/sdk/api-problem';
import { CircleCheck, CloudOff, Info, TriangleAlert, type LucideIcon } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTexts } from '../texts/texts';
import { Button } from './button';

type Tone = 'info' | 'good' | 'warn' | 'bad';
const icons: Record<Tone, LucideIcon> = {
  info: Info,
  good: CircleCheck,
  warn: TriangleAlert,
  bad: TriangleAlert,
};

/** Something to know about what is around it. */
export function Callout({ tone = 'info', title, children }: CalloutProps) {
  const Icon = icons[tone];
  return (
    <div className={`callout ${tone}`} role={tone === 'bad' ? 'alert' : undefined}>
      <Icon aria-hidden />
      <div className="title">{title}</div>
      {children && <div>{children}</div>}
    </div>
  );
}

interface CalloutProps {
  tone?: Tone;
  title: ReactNode;
  children?: ReactNode;
}

export function Badge({ tone, isLive = false, children }: BadgeProps) {
  return (
    <span className={tone ? `badge ${tone}` : 'badge'}>
      {isLive && <span className="dot pulsing" />}
      {children}
    </span>
  );
}

export type BadgeTone = 'good' | 'warn' | 'bad' | 'accent' | undefined;
interface BadgeProps {
  tone?: BadgeTone;
  isLive?: boolean;
  children: ReactNode;
}

/** Those who hear the page hear what comes into it: that is so only where it was there before, empty. */
export const Announced = ({
  as: Element = 'div',
  children,
}: {
  as?: 'div' | 'span';
  children: ReactNode;
}) => (
  <Element role="status" className="announced">
    {children}
  </Element>
);

/** What a page shows instead of an empty list, with what to do next. */
export function EmptyState({ icon: Icon, title, isPage = false, children, action }: EmptyStateProps) {
  const Title = isPage ? 'h1' : 'h2';
  return (
    <div className="empty">
      <Icon aria-hidden />
      <Title>{title}</Title>
      {children && <p>{children}</p>}
      {action}
    </div>
  );
}

interface EmptyStateProps {
  icon: LucideIcon;
  title: string;
  /** It stands in the place of a whole page. */
  isPage?: boolean;
  children?: ReactNode;
  action?: ReactNode;
}

/** Statuses of what may succeed a moment later. */
const PASSING = [500, 502, 503, 504];

interface FailureProps {
  error: Error;
  /** What it returns may be a promise, until which it is being tried. */
  onRetry?: (() => unknown) | undefined;
}

/** What went wrong, in the reader's language where the platform knows the problem, and what they can do about it. */
export function Failure({ error, onRetry }: FailureProps) {
  const { t, find } = useTexts();
  if (!(error instanceof ApiProblem)) {
    const isLate = error.name === 'TimeoutError';
    return (
      <div className="empty" role="alert">
        <CloudOff aria-hidden />
        <h2>{t(isLate ? 'Console.failure.noResponse' : 'Console.failure.offline')}</h2>
        <p>{t(isLate ? 'Console.failure.noResponseHelp' : 'Console.failure.offlineHelp')}</p>
        {onRetry && <Retry onRetry={onRetry} />}
      </div>
    );
  }
  const isPassing = PASSING.includes(error.status);
  // What stands between the person and the platform has problems that the platform does not know.
  const title =
    find(`Problems.types.${error.slug}`) ?? (isPassing ? find('Problems.types.area-unavailable') : undefined);
  return (
    <Callout tone="bad" title={title ?? error.problem.title}>
      <div className="stack tight">
        <span lang="en">{error.problem.detail}</span>
        {isPassing && !onRetry && <span>{t('Console.failure.away')}</span>}
        {error.traceId && (
          <span className="small soft">{t('Platform.messages.traceId', { 0: error.traceId })}</span>
        )}
        {onRetry && (
          <span>
            <Retry onRetry={onRetry} />
          </span>
        )}
      </div>
    </Callout>
  );
}

function Retry({ onRetry }: { onRetry: () => unknown }) {
  const { t } = useTexts();
  const [isPending, setPending] = useState(false);
  const retry = async () => {
    setPending(true);
    try {
      await onRetry();
    } finally {
      setPending(false);
    }
  };
  return (
    <Button isPending={isPending} onPress={() => void retry()}>
      {t('Platform.actions.retry')}
    </Button>
  );
}

/** Lines in the place of what is being loaded, so that nothing moves when it arrives. */
export function Skeleton({ lines = 3, height = '1.2rem' }: { lines?: number; height?: string }) {
  const { t } = useTexts();
  return (
    <div className="stack" role="status" aria-label={t('Platform.messages.loading')}>
      {Array.from({ length: lines }, (_, index) => (
        <div key={index} className="skeleton" style={{ height, width: `${100 - ((index * 17) % 40)}%` }} />
      ))}
    </div>
  );
}
/** How far something is; without a value, that it goes on. */
export function Progress({ label, value }: { label: string; value: number | undefined }) {
  const percent = value === undefined ? undefined : Math.round(Math.min(Math.max(value, 0), 1) * 100);
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      {...(percent === undefined ? {} : { 'aria-valuenow': percent })}
      className={percent === undefined ? 'progress indeterminate' : 'progress'}
    >
      <div className="bar" style={percent === undefined ? undefined : { width: `${percent}%` }} />
    </div>
  );
}
