import { useVirtualizer } from '@tanstack/react-virtual';
import { Languages } from 'lucide-react';
import {
  memo,
  startTransition,
  useEffect,
  useRef,
  useState,
  type CSSProperties,
  type KeyboardEvent,
  type RefObject,
} from 'react';
import type { TextCell, TextFilter, TextRow } from '../api/localization';
import { EmptyState, Failure, Skeleton } from '../components/state';
import { useTexts } from '../texts/texts';
import { useTextWindow } from './use-text-window';

const ROW_PIXELS = 46;
const ROWS_OF_PAGE_KEY = 10;
/** Columns before those of the cultures: selection and key. */
const LEADING = 2;

interface Position {
  row: number;
  column: number;
}

interface TextGridProps {
  ref: RefObject<HTMLDivElement | null>;
  filter: TextFilter;
  cultures: readonly { cultureName: string; displayName: string }[];
  /** Names of the rows that are selected. */
  selected: ReadonlyMap<string, TextRow>;
  onSelect: (rows: readonly TextRow[], isSelected: boolean) => void;
  onEdit: (row: TextRow, cultureName: string) => void;
  onUndo: () => void;
}

export const rowName = ({ resourceName, key }: { resourceName: string; key: string }): string =>
  `${resourceName}.${key}`;

/** Keys by cultures. The focus stays on the grid, and arrow keys move the active cell, also where no row is drawn yet. */
export function TextGrid({
  ref: frame,
  filter,
  cultures,
  selected,
  onSelect,
  onEdit,
  onUndo,
}: TextGridProps) {
  const { t } = useTexts();
  const [chosen, setActive] = useState<Position>({ row: 0, column: LEADING });
  // Languages may have been hidden since.
  const active = { ...chosen, column: Math.min(chosen.column, cultures.length + LEADING - 1) };
  const anchor = useRef<number>(undefined);
  const [counted, setCounted] = useState(0);
  // eslint-disable-next-line react-hooks/incompatible-library -- the React Compiler is not used here
  const virtualizer = useVirtualizer({
    count: counted,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_PIXELS,
    overscan: 6,
    // The heads of the columns stay above the rows.
    scrollMargin: ROW_PIXELS,
    scrollPaddingStart: ROW_PIXELS,
  });
  const rows = virtualizer.getVirtualItems();
  const { count, rowAt, error, refetch, isOld } = useTextWindow(
    filter,
    rows[0]?.index ?? 0,
    rows.at(-1)?.index ?? 0,
  );
  // The first rows are rendered in pieces, between which keys and clicks are answered.
  useEffect(() => startTransition(() => setCounted(count ?? 0)), [count]);
  const { search, resourceName, show } = filter;
  useEffect(() => {
    frame.current?.scrollTo({ top: 0 });
    setActive(({ column }) => ({ row: 0, column }));
  }, [frame, search, resourceName, show]);

  const isActiveDrawn = rows.some(({ index }) => index === active.row);
  const move = (row: number, column: number) => {
    const next = {
      row: Math.min(Math.max(row, 0), counted - 1),
      column: Math.min(Math.max(column, 0), cultures.length + LEADING - 1),
    };
    setActive(next);
    // What stands above may have moved a part of the grid out of the window.
    frame.current?.scrollIntoView({ block: 'nearest' });
    virtualizer.scrollToIndex(next.row);
  };
  const toggle = (index: number, extends_: boolean) => {
    const row = rowAt(index);
    if (!row) return;
    const isSelected = !selected.has(rowName(row));
    const from = extends_ && anchor.current !== undefined ? anchor.current : index;
    const range = Array.from(
      { length: Math.abs(index - from) + 1 },
      (_, step) => Math.min(index, from) + step,
    );
    onSelect(
      range.map(rowAt).filter((one) => one !== undefined),
      isSelected,
    );
    anchor.current = index;
  };
  const activate = ({ row: index, column }: Position, extends_ = false) => {
    const row = rowAt(index);
    const culture = cultures[column - LEADING];
    if (column < LEADING) toggle(index, extends_);
    else if (row && culture) onEdit(row, culture.cultureName);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { row, column } = active;
    const isCommand = event.ctrlKey || event.metaKey;
    const steps: Record<string, () => void> = {
      ArrowUp: () => move(row - 1, column),
      ArrowDown: () => move(row + 1, column),
      ArrowLeft: () => move(row, column - 1),
      ArrowRight: () => move(row, column + 1),
      PageUp: () => move(row - ROWS_OF_PAGE_KEY, column),
      PageDown: () => move(row + ROWS_OF_PAGE_KEY, column),
      Home: () => move(isCommand ? 0 : row, isCommand ? column : 0),
      End: () => move(isCommand ? counted - 1 : row, isCommand ? column : cultures.length + LEADING - 1),
      Enter: () => activate(active),
      F2: () => activate(active),
      ' ': () => toggle(row, event.shiftKey),
      ...(isCommand ? { z: onUndo } : {}),
    };
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    step();
  };

  if (error && count === undefined) return <Failure error={error} onRetry={refetch} />;
  if (count === undefined) return <Skeleton lines={8} height="2.2rem" />;
  if (count === 0)
    return (
      <div className="panel">
        <EmptyState icon={Languages} title={t('Platform.lists.noMatches')} />
      </div>
    );
  return (
    <div
      ref={frame}
      className="text-grid"
      style={{ '--cultures': cultures.length } as CSSProperties}
      role="grid"
      aria-label={t('Console.localization.grid')}
      aria-rowcount={count + 1}
      aria-colcount={cultures.length + LEADING}
      aria-multiselectable
      aria-busy={isOld}
      {...(isActiveDrawn ? { 'aria-activedescendant': `cell-${active.row}-${active.column}` } : {})}
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <div className="text-row head" role="row" aria-rowindex={1}>
        <span role="columnheader">
          <span className="visually-hidden">{t('Console.localization.selected')}</span>
        </span>
        <span role="columnheader" className="key">
          {t('Localization.fields.key')}
        </span>
        {cultures.map(({ cultureName, displayName }) => (
          <span key={cultureName} role="columnheader">
            {displayName}
          </span>
        ))}
      </div>
      <div role="rowgroup" className="text-rows" style={{ height: virtualizer.getTotalSize() }}>
        {rows.map(({ index, start }) => {
          const row = rowAt(index);
          return (
            <div
              key={index}
              role="row"
              aria-rowindex={index + 2}
              aria-selected={row !== undefined && selected.has(rowName(row))}
              className="text-row"
              style={{ transform: `translateY(${start - ROW_PIXELS}px)` }}
              onClick={(event) => {
                const cell = (event.target as HTMLElement).closest<HTMLElement>('[data-column]');
                if (!cell) return;
                const position = { row: index, column: Number(cell.dataset['column']) };
                setActive(position);
                activate(position, event.shiftKey);
              }}
            >
              <Row
                index={index}
                row={row}
                cultures={cultures}
                isSelected={row !== undefined && selected.has(rowName(row))}
                activeColumn={active.row === index ? active.column : undefined}
              />
            </div>
          );
        })}
      </div>
    </div>
  );
}

interface RowProps {
  index: number;
  row: TextRow | undefined;
  cultures: TextGridProps['cultures'];
  isSelected: boolean;
  activeColumn: number | undefined;
}

/** Drawn anew only when it changes: a move of the active cell concerns two rows. */
const Row = memo(({ index, row, cultures, isSelected, activeColumn }: RowProps) => {
  const attributes = (column: number) => ({
    id: `cell-${index}-${column}`,
    'data-column': column,
    'data-active': activeColumn === column || undefined,
  });
  return (
    <>
      <span role="gridcell" {...attributes(0)} aria-label={isSelected ? '✓' : ' '} className="mark">
        <span className={isSelected ? 'box chosen' : 'box'} aria-hidden>
          {isSelected && '✓'}
        </span>
      </span>
      <span role="rowheader" {...attributes(1)} className="key">
        {row ? (
          <>
            <span className="soft small truncate">{row.resourceName}</span>
            <span className="truncate" title={row.key}>
              {row.key}
            </span>
          </>
        ) : (
          <span className="skeleton">…</span>
        )}
      </span>
      {cultures.map(({ cultureName }, position) => {
        const cell = row?.values.find((one) => one.cultureName === cultureName);
        return (
          <span key={cultureName} role="gridcell" {...attributes(position + LEADING)}>
            {row ? <CellText cell={cell} /> : <span className="skeleton">…</span>}
          </span>
        );
      })}
    </>
  );
});
Row.displayName = 'Row';

/** Own words stand out; what comes from another language steps back. */
function CellText({ cell }: { cell: TextCell | undefined }) {
  const { t } = useTexts();
  if (!cell) return null;
  const { value, platformValue, platformCulture, cultureName, hasDrifted } = cell;
  if (value !== null)
    return (
      <span className="own truncate" title={value}>
        {hasDrifted && <span className="drift" role="img" aria-label={t('Console.localization.drifted')} />}
        {value || '∅'}
      </span>
    );
  return (
    <span
      className={platformCulture === cultureName ? 'truncate' : 'truncate soft'}
      title={platformValue ?? undefined}
    >
      {platformValue ?? '–'}
    </span>
  );
}
