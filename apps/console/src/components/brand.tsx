import { Link } from '@tanstack/react-router';
import icon from '../icon.svg';

export function Brand() {
  return (
    <Link to="/" className="brand">
      <img src={icon} alt="" width={28} height={28} />
      Plinth
    </Link>
  );
}

/** What is seen first; `index.html` has it before there is any script. */
export const Starting = () => (
  <div className="starting">
    <img src={icon} alt="Plinth" width={56} height={56} />
  </div>
);

export function Avatar({ name }: { name: string }) {
  const initials = name
    .split(/\s+/)
    .map((word) => word[0] ?? '')
    .filter((_, index, all) => index === 0 || index === all.length - 1)
    .join('')
    .toUpperCase();
  return (
    <span className="avatar" aria-hidden>
      {initials}
    </span>
  );
}
