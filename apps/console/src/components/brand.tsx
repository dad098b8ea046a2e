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

/** What is seen first; `index.html` has it before there is any script. There are no texts of the platform yet. */
export const Starting = () => (
  <div className="starting">
    <header>
      <h1>
        <img src={icon} alt="Plinth" width={56} height={56} />
      </h1>
    </header>
    <main>
      <p role="status" lang="en">
        This takes longer than usual. <a href="">Try again</a>
      </p>
    </main>
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
