import { useTexts } from '../texts/texts';

interface MinuteChartProps {
  name: string;
  minutes: readonly { at: string; value: number; bad: number }[];
  /** What the red part of a bar is. */
  badName?: string;
}

const HEIGHT = 60;

/** One bar for each minute, the part that is bad in red. */
export function MinuteChart({ name, minutes, badName }: MinuteChartProps) {
  const { t, number, date } = useTexts();
  const highest = Math.max(...minutes.map(({ value }) => value), 1);
  const bad = minutes.reduce((sum, minute) => sum + minute.bad, 0);
  const time = (index: number) => date(minutes[index]!.at, { timeStyle: 'short' });
  const summary = [
    name,
    t('Console.operations.highest', { value: number(highest) }),
    ...(badName ? [t('Console.shell.valueOf', { name: badName, value: number(bad) })] : []),
  ].join(', ');
  return (
    <figure className="panel padded chart">
      <figcaption className="row spread">
        <h3>{name}</h3>
        <span className="soft small number">
          {t('Console.operations.highest', { value: number(highest) })}
        </span>
      </figcaption>
      <svg
        role="img"
        aria-label={summary}
        viewBox={`0 0 ${minutes.length} ${HEIGHT}`}
        preserveAspectRatio="none"
      >
        {minutes.map(({ at, value, bad: badValue }, index) => {
          const height = (value / highest) * HEIGHT;
          const badHeight = (badValue / highest) * HEIGHT;
          return (
            <g key={at}>
              <rect className="bar" x={index} y={HEIGHT - height} width={0.8} height={height} />
              <rect className="bad" x={index} y={HEIGHT - badHeight} width={0.8} height={badHeight} />
            </g>
          );
        })}
      </svg>
      <div className="row spread soft small number" aria-hidden>
        <span>{time(0)}</span>
        <span>{time(Math.floor(minutes.length / 2))}</span>
        <span>{time(minutes.length - 1)}</span>
      </div>
    </figure>
  );
}
