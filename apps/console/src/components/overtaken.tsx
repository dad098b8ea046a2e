import { useTexts } from '../texts/texts';
import { Button } from './button';
import { Callout } from './state';

interface OvertakenProps {
  title: string;
  /** What was pressed and is on its way. */
  chosen: 'take' | 'replace' | undefined;
  onTake: () => void;
  onReplace: () => void;
}

/** Somebody else saved what this person was changing, who decides which of the two stays. */
export function Overtaken({ title, chosen, onTake, onReplace }: OvertakenProps) {
  const { t } = useTexts();
  return (
    <div role="alert">
      <Callout tone="warn" title={title}>
        <div className="stack tight">
          <span>{t('Console.templates.overtakenHelp')}</span>
          <div className="row">
            <Button isPending={chosen === 'take'} isDisabled={chosen === 'replace'} onPress={onTake}>
              {t('Console.templates.takeTheirs')}
            </Button>
            <Button
              look="danger"
              isPending={chosen === 'replace'}
              isDisabled={chosen === 'take'}
              onPress={onReplace}
            >
              {t('Console.templates.saveMine')}
            </Button>
          </div>
        </div>
      </Callout>
    </div>
  );
}
