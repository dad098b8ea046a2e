import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import {
  dataExchange,
  exportPresetsQuery,
  type ExportDefinition,
  type ExportPreset,
} from '../api/data-exchange';
import { Button } from '../components/button';
import { IconButton } from '../components/icon-button';
import { Failure } from '../components/state';
import { Form, FormField, useContractForm } from '../forms/contract-form';
import { useTexts } from '../texts/texts';

interface PresetsProps {
  definition: ExportDefinition;
  presets: readonly ExportPreset[];
  current: Pick<ExportPreset, 'selectedFields' | 'format' | 'includeIdForImport' | 'filter'>;
  onUse: (preset: ExportPreset) => void;
}

/** The person's own settings under a name. */
export function Presets({ definition, presets, current, onUse }: PresetsProps) {
  const { t } = useTexts();
  const queries = useQueryClient();
  const refresh = () => queries.invalidateQueries({ queryKey: exportPresetsQuery(definition.name).queryKey });
  const form = useContractForm({
    shape: 'exportPreset',
    defaultValues: { presetName: '' },
    send: ({ presetName }) => {
      const body = { ...current, definitionName: definition.name, presetName: presetName.trim() };
      return dataExchange.saveExportPreset({ body });
    },
    onSent: async () => {
      form.reset();
      await refresh();
    },
  });
  const remove = useMutation({
    mutationFn: (preset: string) =>
      dataExchange.deleteExportPreset({ params: { name: definition.name, preset } }),
    onSuccess: refresh,
  });
  const error = form.failure ?? remove.error;
  return (
    <section className="stack tight" aria-labelledby="presets">
      <h2 id="presets">{t('Console.exports.presets')}</h2>
      {presets.length > 0 && (
        <ul className="chips">
          {presets.map((preset) => (
            <li key={preset.presetName} className="preset">
              <Button look="quiet" onPress={() => onUse(preset)}>
                {preset.presetName}
              </Button>
              <IconButton
                label={t('Console.exports.removePreset', { name: preset.presetName })}
                onPress={() => remove.mutate(preset.presetName)}
              >
                <Trash2 aria-hidden />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
      <Form form={form} className="row preset-form">
        <FormField
          form={form}
          name="presetName"
          hidesLabel
          label={t('Console.exports.presetName')}
          placeholder={t('Console.exports.presetName')}
        />
        <Button type="submit" isPending={form.isPending}>
          {t('Console.exports.savePreset')}
        </Button>
      </Form>
      {error && <Failure error={error} />}
    </section>
  );
}
