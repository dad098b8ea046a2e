import { Link } from '@tanstack/react-router';
import type { RefObject } from 'react';
import { Dialog } from 'react-aria-components/Dialog';
import { Popover } from 'react-aria-components/Popover';
import type { Entity } from '../api/workflow';
import { Button } from '../components/button';
import { useTexts } from '../texts/texts';
import type { Step } from './lifecycle-menu';

interface LifecycleStepsProps {
  /** Each with the reason why it cannot be taken now; without one it can. */
  steps: readonly { step: Step; objection: string | undefined }[];
  entity: Entity;
  needsApproval: boolean;
  isBusy: boolean;
  trigger: RefObject<HTMLButtonElement | null>;
  onClose: () => void;
  onChoose: (step: Step) => void;
}

/** Everything that can become of a template, below the button that opens it. */
export function LifecycleSteps({
  steps,
  entity,
  needsApproval,
  isBusy,
  trigger,
  onClose,
  onChoose,
}: LifecycleStepsProps) {
  const { t } = useTexts();
  return (
    <Popover
      className="popover"
      placement="bottom end"
      offset={4}
      triggerRef={trigger}
      isOpen
      onOpenChange={onClose}
    >
      <Dialog className="dialog lifecycle" aria-label={t('Console.templates.lifecycle.title')}>
        <ul className="transitions">
          {steps.map(({ step, objection }) => (
            <li key={step}>
              <Button
                {...(step === 'delete' ? { look: 'danger' as const } : {})}
                isDisabled={objection !== undefined}
                isPending={isBusy}
                onPress={() => onChoose(step)}
              >
                {t(`Console.templates.lifecycle.${step}`)}
              </Button>
              {objection && <span className="soft small">{objection}</span>}
            </li>
          ))}
        </ul>
        {needsApproval && <p className="soft small">{t('Console.templates.lifecycle.needsApproval')}</p>}
        <Link to="/entities/$entityType/$entityId" params={entity}>
          {t('Console.templates.lifecycle.timeline')}
        </Link>
      </Dialog>
    </Popover>
  );
}
