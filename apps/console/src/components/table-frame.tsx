import type { ReactNode } from 'react';

interface TableFrameProps {
  label: string;
  children: ReactNode;
}

/** A table that is scrolled by itself where it is wider than the window, also by keyboard. */
export const TableFrame = ({ label, children }: TableFrameProps) => (
  <div className="table-frame" tabIndex={0} role="region" aria-label={label}>
    <table className="table">{children}</table>
  </div>
);
