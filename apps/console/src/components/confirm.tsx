import { useState, type ReactNode } from 'react';
import { Dialog } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { useTexts } from '../texts/texts';
import { Button } from './button';

interface ConfirmProps {
  /** The button that asks. */
  label: ReactNode;
  title: string;
  /** What will happen. */
  children: ReactNode;
  /** The button that does it. */
  confirmLabel: string;
  isPending: boolean;
  look?: 'danger' | 'quiet';
  onConfirm: () => void;
}

/** A button whose effect is told before it happens. */
export function Confirm({
  label,
  title,
  children,
  confirmLabel,
  isPending,
  look = 'danger',
  onConfirm,
}: ConfirmProps) {
  const { t } = useTexts();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button look={look} isPending={isPending} onPress={() => setOpen(true)}>
        {label}
      </Button>
      <ModalOverlay className="modal-overlay" isDismissable isOpen={isOpen} onOpenChange={setOpen}>
        <Modal className="modal">
          <Dialog className="dialog" role="alertdialog">
            <Heading slot="title" level={2}>
              {title}
            </Heading>
            <div>{children}</div>
            <div className="actions">
              <Button autoFocus onPress={() => setOpen(false)}>
                {t('Console.dialog.back')}
              </Button>
              <Button
                look="danger"
                onPress={() => {
                  setOpen(false);
                  onConfirm();
                }}
              >
                {confirmLabel}
              </Button>
            </div>
          </Dialog>
        </Modal>
      </ModalOverlay>
    </>
  );
}
