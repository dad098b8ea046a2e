import { ApiProblem } from '@plinth/sdk/api-problem';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useBlocker, useParams } from '@tanstack/react-router';
import { ChevronLeft, Plus, Save, Undo2 } from 'lucide-react';
import { useState } from 'react';
import { definitionErrorsQuery, definitionQuery, workflow, type StoredDefinition } from '../api/workflow';
import { Button } from '../components/button';
import { IconButton } from '../components/icon-button';
import { Overtaken } from '../components/overtaken';
import { Page } from '../components/page';
import { Announced, Badge, Callout, Failure } from '../components/state';
import { mayDo, useCaller } from '../shell/caller';
import { useDebounced } from '../templates/use-debounced';
import { ruleOf, ruleText } from '../forms/rule-text';
import { useTexts, type Texts } from '../texts/texts';
import { addState, connect, emptyDraft, partOf, stepsAfter, type DefinitionDraft } from './definition-draft';
import { Drawing, DrawingPlace } from './drawing';
import { PartForm } from './part-form';
import { isRefusal } from './refusal';
import type { GraphSelection } from './state-graph';

const QUIET_MILLISECONDS = 300;
const CHECK_AGAIN_MILLISECONDS = 2_000;

interface AsDrawn {
  draft: DefinitionDraft;
  etag: string | undefined;
}

/** What an entity type without a definition begins with. */
const beginning: AsDrawn = { draft: emptyDraft('Draft'), etag: undefined };

const asDrawn = (read: StoredDefinition | null): AsDrawn =>
  read ? { draft: read.definition, etag: read.etag } : beginning;

/** The definition of a kind of entity, as a picture that can be changed. */
export function WorkflowPage() {
  const { t } = useTexts();
  const { entityType } = useParams({ from: '/shell/workflows/$entityType' });
  const { data, error, refetch } = useQuery({ ...definitionQuery(entityType), retry: false });
  const start = data === undefined ? undefined : asDrawn(data);
  return (
    <Page
      isWide
      title={entityType}
      lead={
        data
          ? `${t(`Workflow.definitionScope.${data.definition.scope}`)} · ${t('Console.workflows.version')} ${data.definition.version}`
          : // Of the same height, so that nothing moves when it is known.
            !start && !error && '\u00a0'
      }
      back={
        <Link to="/workflows" className="back-link">
          <ChevronLeft aria-hidden />
          {t('Console.workflows.title')}
        </Link>
      }
    >
      {error && <Failure error={error} onRetry={refetch} />}
      {(start || !error) && (
        <Editor
          key={`${entityType} ${start ? 'known' : 'awaited'}`}
          entityType={entityType}
          stored={start?.draft}
          etag={start?.etag}
        />
      )}
    </Page>
  );
}

interface EditorProps {
  entityType: string;
  /** Undefined until it has come: what is around it is shown already, and offers nothing yet. */
  stored: DefinitionDraft | undefined;
  etag: string | undefined;
}

const draftOf = ({ initialState, states, finalStates, transitions }: DefinitionDraft): DefinitionDraft => ({
  initialState,
  states,
  finalStates,
  transitions,
});

function Editor({ entityType, stored, etag }: EditorProps) {
  const texts = useTexts();
  const { t } = texts;
  const queries = useQueryClient();
  const isReadOnly = !mayDo(useCaller(), 'Workflow.Definitions.Manage');
  const [steps, setSteps] = useState<readonly DefinitionDraft[]>(() => [
    stored ? draftOf(stored) : emptyDraft(''),
  ]);
  const [selection, setSelection] = useState<GraphSelection>();
  const draft = steps.at(-1)!;
  const isDirty = steps.length > 1;
  // What is drawn was drawn over this version, whatever is stored by now.
  const [base, setBase] = useState({ stored, etag });
  // Apart from it: what was just saved is stored before it is seen here.
  const [seen, setSeen] = useState(stored);
  if (!isDirty && stored && stored !== seen) {
    setSeen(stored);
    setBase({ stored, etag });
    const theirs = draftOf(stored);
    if (JSON.stringify(theirs) !== JSON.stringify(draftOf(draft))) {
      setSteps([theirs]);
      setSelection(undefined);
    }
  }
  const change = (next: DefinitionDraft) => {
    if (next === draft) return;
    // What was said of a drawing that was undone is not about this one.
    if (!isDirty && !save.isPending) save.reset();
    setSteps([...steps, next]);
  };
  const settled = useDebounced(draft, QUIET_MILLISECONDS);
  // What is stored was checked when it was saved.
  const check = useQuery({
    ...definitionErrorsQuery(entityType, settled),
    enabled: !isReadOnly && isDirty,
    // Judged again once the service is back.
    refetchInterval: ({ state: { error } }) =>
      error !== null && !isRefusal(error) && CHECK_AGAIN_MILLISECONDS,
  });
  const found = check.error ? refusedParts(texts, check.error) : (check.data ?? []);
  const errors = isDirty ? found : [];
  const save = useMutation({
    // Over nothing where nothing was there.
    mutationFn: async ({ drawn, over }: { drawn: DefinitionDraft; over: string | undefined }) =>
      workflow.putDefinition({
        params: { entityType },
        body: drawn,
        ...(over === undefined ? { ifNoneMatch: '*' } : { ifMatch: over }),
      }),
    onSuccess: ({ body, etag: next }, { drawn }) => {
      // What was drawn meanwhile is not saved.
      setSteps((former) => stepsAfter(drawn, former));
      setBase({ stored: body, etag: next });
      setSeen(stored);
      const saved: StoredDefinition = { definition: body, etag: next };
      queries.setQueryData(definitionQuery(entityType).queryKey, saved);
      // Read again beside it: the next save does not wait for that.
      void queries.invalidateQueries({ queryKey: ['workflow-definitions'] });
      void queries.invalidateQueries({ queryKey: ['workflow'] });
    },
  });
  const readAgain = () => queries.fetchQuery({ ...definitionQuery(entityType), staleTime: 0 });
  /** As somebody else saved it meanwhile. */
  const theirs = useMutation<Awaited<ReturnType<typeof readAgain>>, Error, 'take' | 'replace'>({
    mutationFn: readAgain,
  });
  const takeTheirs = () =>
    theirs.mutate('take', {
      onSuccess: (read) => {
        const { draft: definition, etag: over } = asDrawn(read);
        setSteps([draftOf(definition)]);
        setSelection(undefined);
        setBase({ stored: definition, etag: over });
        setSeen(stored);
        save.reset();
      },
    });
  const saveMine = () =>
    theirs.mutate('replace', { onSuccess: (read) => save.mutate({ drawn: draft, over: read?.etag }) });
  const chosen = theirs.isPending ? theirs.variables : undefined;
  const isStale = save.error instanceof ApiProblem && save.error.slug === 'stale-version';
  const isOvertaken = isDirty && isStale && !save.isPending;
  useBlocker({
    shouldBlockFn: () => isDirty && !confirm(t('Platform.confirm.discard')),
    enableBeforeUnload: () => isDirty,
  });
  const isWrong = ({ kind, index }: GraphSelection) =>
    errors.some(({ path }) => {
      const part = partOf(path, settled);
      return part?.kind === kind && part.index === index;
    });
  return (
    <div className="stack">
      {!isReadOnly && (
        <div className="row spread">
          <span className="row">
            <Button
              isDisabled={!stored}
              onPress={() => {
                change(addState(draft, t('Console.workflows.newState')));
                // It is named next.
                setSelection({ kind: 'state', index: draft.states.length });
              }}
            >
              <Plus aria-hidden />
              {t('Console.workflows.addState')}
            </Button>
            <IconButton
              label={t('Console.workflows.undo')}
              isDisabled={!isDirty}
              onPress={() => setSteps(steps.slice(0, -1))}
            >
              <Undo2 aria-hidden />
            </IconButton>
          </span>
          <span className="row">
            {isDirty && <Badge tone="warn">{t('Console.templates.notSaved')}</Badge>}
            <Button
              look="primary"
              isPending={save.isPending}
              isDisabled={!isDirty || errors.length > 0}
              onPress={() => save.mutate({ drawn: draft, over: base.etag })}
            >
              <Save aria-hidden />
              {t('Platform.actions.save')}
            </Button>
          </span>
        </div>
      )}
      {save.error && !isStale && <Failure error={save.error} />}
      {isOvertaken && (
        <Overtaken
          title={t('Console.workflows.overtaken')}
          chosen={chosen}
          onTake={takeTheirs}
          onReplace={saveMine}
        />
      )}
      {theirs.error && <Failure error={theirs.error} />}
      <div className="workflow-editor">
        {!stored && <DrawingPlace />}
        {stored && (
          <Drawing
            label={t('Console.workflows.picture', { name: entityType })}
            {...draft}
            emphasisOf={(part) => (isWrong(part) ? 'wrong' : undefined)}
            selection={selection}
            onSelect={setSelection}
            {...(isReadOnly
              ? {}
              : {
                  onConnect: (from: string, to: string) => {
                    const connected = connect(draft, from, to, t('Console.workflows.newTransition'));
                    change(connected);
                    if (connected !== draft)
                      setSelection({ kind: 'transition', index: connected.transitions.length - 1 });
                  },
                })}
          />
        )}
        <div className="stack">
          <Announced>
            {errors.length > 0 && (
              <Callout tone="warn" title={t('Console.workflows.unsound', { count: errors.length })}>
                <ul className="plain">
                  {errors.map(({ message }) => (
                    <li key={message}>{message}</li>
                  ))}
                </ul>
              </Callout>
            )}
          </Announced>
          <PartForm
            key={selection && `${selection.kind} ${selection.index}`}
            draft={draft}
            selection={selection}
            onSelect={setSelection}
            onChange={change}
            isReadOnly={isReadOnly}
            messages={Object.fromEntries(errors.map(({ path, message }) => [path, message]))}
          />
        </div>
      </div>
    </div>
  );
}

/** Parts of a drawing that are none, such as a name that is too long: the platform refuses to judge the whole. */
function refusedParts(texts: Texts, error: Error): { path: string; message: string }[] {
  if (!(error instanceof ApiProblem)) return [];
  return Object.entries(error.errors).map(([path, [code]]) => ({
    path,
    message: ruleText(texts, ruleOf(code)),
  }));
}
