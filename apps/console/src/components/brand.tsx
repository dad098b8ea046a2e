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
