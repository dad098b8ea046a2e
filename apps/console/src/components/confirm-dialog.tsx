import { useId, type ReactNode } from 'react';
import { Dialog } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { useTexts } from '../texts/texts';
import { Button } from './button';

interface ConfirmDialogProps {
  title: string;
  /** What will happen. */
  children: ReactNode;
  /** The button that does it. */
  confirmLabel: string;
  onClose: () => void;
  onConfirm: () => void;
}

export function ConfirmDialog({ title, children, confirmLabel, onClose, onConfirm }: ConfirmDialogProps) {
  const { t } = useTexts();
  const consequence = useId();
  return (
    <ModalOverlay className="modal-overlay" isDismissable isOpen onOpenChange={onClose}>
      <Modal className="modal">
        <Dialog className="dialog" role="alertdialog" aria-describedby={consequence}>
          <Heading slot="title" level={2}>
            {title}
          </Heading>
          <div id={consequence}>{children}</div>
          <div className="actions">
            <Button autoFocus onPress={onClose}>
              {t('Console.dialog.back')}
            </Button>
            <Button
              look="danger"
              onPress={() => {
                onClose();
                onConfirm();
              }}
            >
              {confirmLabel}
            </Button>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
