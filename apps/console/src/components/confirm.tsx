import { Suspense, useState, type ReactNode } from 'react';
import { Button } from './button';
import { EscapeWhileLoading } from './escape-while-loading';
import { lazyPart } from './lazy-part';
import { Failure } from './state';

const ConfirmDialog = lazyPart(
  () => import('./confirm-dialog'),
  ({ ConfirmDialog }) => ConfirmDialog,
);

interface ConfirmProps {
  /** The button that asks. */
  label: ReactNode;
  title: string;
  /** What will happen. */
  children: ReactNode;
  /** The button that does it. */
  confirmLabel: string;
  isPending: boolean;
  /** Why it was not done, where nothing else on the page says so. */
  error?: Error | null;
  look?: 'danger' | 'quiet';
  onConfirm: () => void;
}

/** A button whose effect is told before it happens. The dialog is loaded for those who press it. */
export function Confirm({
  label,
  title,
  children,
  confirmLabel,
  isPending,
  error,
  look = 'danger',
  onConfirm,
}: ConfirmProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button look={look} isPending={isPending} onPress={() => setOpen(true)}>
        {label}
      </Button>
      {error && <Failure error={error} />}
      {isOpen && (
        <Suspense fallback={<EscapeWhileLoading onEscape={() => setOpen(false)} />}>
          <ConfirmDialog
            title={title}
            confirmLabel={confirmLabel}
            onClose={() => setOpen(false)}
            onConfirm={onConfirm}
          >
            {children}
          </ConfirmDialog>
        </Suspense>
      )}
    </>
  );
}
