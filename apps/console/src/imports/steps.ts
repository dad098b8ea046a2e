import { useTexts } from '../texts/texts';

/** The steps of every import. */
export function useSteps(): { label: string; steps: string[] } {
  const { t } = useTexts();
  const names = ['file', 'columns', 'check', 'run', 'result'];
  return {
    label: t('Console.imports.steps.label'),
    steps: names.map((name) => t(`Console.imports.steps.${name}`)),
  };
}
