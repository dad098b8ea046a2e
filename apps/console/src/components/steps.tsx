import { Check } from 'lucide-react';

/** Where one is on the way, for eyes and ears. */
export function Steps({
  label,
  steps,
  current,
}: {
  label: string;
  steps: readonly string[];
  current: number;
}) {
  return (
    <ol className="steps" aria-label={label}>
      {steps.map((step, index) => (
        <li
          key={step}
          className={index < current ? 'done' : undefined}
          aria-current={index === current ? 'step' : undefined}
        >
          <span className="mark" aria-hidden>
            {index < current ? <Check /> : index + 1}
          </span>
          {step}
        </li>
      ))}
    </ol>
  );
}
