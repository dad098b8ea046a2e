import { useState } from 'react';
import { Button } from '../components/button';
import { Form, FormField, useContractForm } from '../forms/contract-form';
import { useTexts } from '../texts/texts';

interface RenameFormProps {
  state: string;
  /** Names that another state may have. */
  taken: readonly string[];
  onRename: (name: string) => void;
}

/** Another name for a state. */
export function RenameForm({ state, taken, onRename }: RenameFormProps) {
  const { t } = useTexts();
  const [isTaken, setTaken] = useState(false);
  const form = useContractForm({
    shape: 'state',
    defaultValues: { name: state },
    send: async ({ name: written }) => {
      const name = written.trim();
      const isOther = name !== state;
      setTaken(isOther && taken.includes(name));
      if (isOther && !taken.includes(name)) onRename(name);
    },
  });
  return (
    <Form form={form} className="stack tight">
      <FormField form={form} name="name" label={t('Console.workflows.nameOfState')} />
      {isTaken && (
        <p className="problem small" role="alert">
          {t('Console.workflows.stateTaken')}
        </p>
      )}
      <div>
        <Button type="submit">{t('Console.workflows.rename')}</Button>
      </div>
    </Form>
  );
}
