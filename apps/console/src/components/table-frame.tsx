import type { ReactNode } from 'react';

interface TableFrameProps {
  label: string;
  /** In a narrow window each row is a card; cells that need their heading there have it as `data-label`. */
  cardsWhenNarrow?: boolean;
  children: ReactNode;
}

/** A table that is scrolled by itself where it is wider than the window, also by keyboard. */
export const TableFrame = ({ label, cardsWhenNarrow = false, children }: TableFrameProps) => (
  <div className="table-frame" tabIndex={0} role="region" aria-label={label}>
    <table className={cardsWhenNarrow ? 'table cards-when-narrow' : 'table'}>{children}</table>
  </div>
);
