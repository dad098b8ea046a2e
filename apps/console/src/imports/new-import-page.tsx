import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { FileSpreadsheet, Lock, UploadCloud } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { DropZone } from 'react-aria-components/DropZone';
import { FileTrigger } from 'react-aria-components/FileTrigger';
import { Text } from 'react-aria-components/Text';
import { importDefinitionsQuery, importsQuery, upload, type ImportDefinition } from '../api/data-exchange';
import { Button } from '../components/button';
import { Choices } from '../components/choices';
import { Page } from '../components/page';
import { EmptyState, Failure, Progress, Skeleton } from '../components/state';
import { Steps } from '../components/steps';
import { useStoredState } from '../components/stored-state';
import { saveFile } from '../components/save-file';
import { useTexts, type Texts } from '../texts/texts';
import { csvOf } from './csv';
import { definitionName, fieldHelp, fieldName } from './definition-name';
import { BackToImports } from './back-to-imports';
import { useSteps } from './steps';

/** The first step of an import: what it is, and the file. */
export function NewImportPage() {
  const { t } = useTexts();
  const steps = useSteps();
  const { data: definitions, error, refetch } = useQuery(importDefinitionsQuery);
  return (
    <Page title={t('Console.imports.new')} lead={t('Console.imports.newLead')} back={<BackToImports />}>
      <Steps {...steps} current={0} />
      {error && <Failure error={error} onRetry={refetch} />}
      {!definitions && !error && <Skeleton lines={5} height="3rem" />}
      {definitions?.length === 0 && (
        <div className="panel">
          <EmptyState icon={Lock} title={t('Console.imports.nothingAllowed')}>
            {t('Console.imports.nothingAllowedHelp')}
          </EmptyState>
        </div>
      )}
      {definitions && definitions.length > 0 && <FileStep definitions={definitions} />}
    </Page>
  );
}

function FileStep({ definitions }: { definitions: readonly ImportDefinition[] }) {
  const texts = useTexts();
  const { t } = texts;
  const [stored, setName] = useStoredState('import-definition', definitions[0]!.name);
  const definition = definitions.find(({ name }) => name === stored) ?? definitions[0]!;
  const required = definition.fields.filter(({ isRequired }) => isRequired);
  return (
    <>
      <Choices
        asCards
        label={t('Console.imports.what')}
        value={definition.name}
        onChange={setName}
        options={definitions.map(({ name }) => ({ id: name, label: definitionName(texts, name) }))}
      />
      <FileDrop definition={definition} />
      <section className="stack tight" aria-labelledby="columns-of-file">
        <h2 id="columns-of-file">{t('Console.imports.columnsOfFile')}</h2>
        <p className="soft">{t('Console.imports.columnsHelp')}</p>
        <ul className="chips">
          {columnsOf(definition)
            .toSorted((left, right) => Number(right.isRequired) - Number(left.isRequired))
            .map(({ propertyPath, displayName, isRequired, description }) => (
              <li
                key={propertyPath}
                className={isRequired ? 'badge accent' : 'badge'}
                title={fieldHelp(texts, definition.name, propertyPath, description) ?? ''}
              >
                {fieldName(texts, definition.name, propertyPath, displayName)}
                {isRequired && ` · ${t('DataExchange.fields.isRequired')}`}
              </li>
            ))}
        </ul>
        {required.length > 0 && (
          <div className="flush">
            <Button look="quiet" onPress={() => saveTemplate(texts, definition)}>
              <FileSpreadsheet aria-hidden />
              {t('Console.imports.emptyFile')}
            </Button>
          </div>
        )}
      </section>
    </>
  );
}

/** The ids that an export wrote are for those who know them. */
const columnsOf = ({ fields }: ImportDefinition) =>
  fields.filter(({ propertyPath }) => propertyPath !== 'id');

const saveTemplate = (texts: Texts, definition: ImportDefinition) => {
  const headers = columnsOf(definition).map(({ propertyPath, displayName }) =>
    fieldName(texts, definition.name, propertyPath, displayName),
  );
  saveFile(new Blob([csvOf([headers])], { type: 'text/csv' }), `${definition.name}.csv`);
};

function FileDrop({ definition }: { definition: ImportDefinition }) {
  const { t, bytes } = useTexts();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [share, setShare] = useState(0);
  const cancel = useRef<AbortController>(undefined);
  const { mutate, isPending, error, variables, reset } = useMutation({
    meta: { hasProgress: true },
    mutationFn: async (file: File) => {
      setShare(0);
      cancel.current = new AbortController();
      const job = await upload(file, definition.name, setShare, cancel.current.signal);
      void queries.invalidateQueries({ queryKey: importsQuery.queryKey });
      await navigate({ to: '/imports/$jobId', params: { jobId: job.id }, replace: true });
    },
  });

  // A file that is on its way does not survive a reload.
  useEffect(() => {
    if (!isPending) return undefined;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isPending]);

  if (isPending && variables) {
    const label = t('Console.imports.uploading', { name: variables.name });
    return (
      <div className="panel padded stack">
        <div className="row spread">
          <strong className="truncate">{label}</strong>
          <span className="soft number">
            {bytes(variables.size * share)} / {bytes(variables.size)}
          </span>
        </div>
        <Progress label={label} value={share} />
        <div>
          <Button
            onPress={() => {
              cancel.current?.abort();
              reset();
            }}
          >
            {t('Platform.actions.cancel')}
          </Button>
        </div>
      </div>
    );
  }
  return (
    <>
      {error && error.name !== 'AbortError' && (
        <Failure error={error} onRetry={variables && (() => mutate(variables))} />
      )}
      <DropZone
        className="drop-zone"
        aria-label={t('Console.imports.steps.file')}
        getDropOperation={(types) => (types.has('text/plain') ? 'cancel' : 'copy')}
        onDrop={async ({ items }) => {
          const item = items.find((one) => one.kind === 'file');
          if (item) mutate(await item.getFile());
        }}
      >
        <UploadCloud aria-hidden />
        <Text slot="label">{t('Console.imports.drop')}</Text>
        <FileTrigger
          acceptedFileTypes={['.csv', '.tsv', '.txt', '.xlsx']}
          onSelect={(files) => files?.[0] && mutate(files[0])}
        >
          <Button look="primary" isLarge>
            {t('Console.imports.choose')}
          </Button>
        </FileTrigger>
        <span className="small soft">{t('Console.imports.formats')}</span>
      </DropZone>
    </>
  );
}
