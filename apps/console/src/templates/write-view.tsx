import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useBlocker, useNavigate } from '@tanstack/react-router';
import { Save } from 'lucide-react';
import {
  startTransition,
  Suspense,
  useCallback,
  useDeferredValue,
  useEffect,
  useMemo,
  useRef,
  useState,
  type ReactNode,
} from 'react';
import {
  cultureQuery,
  settingNamesQuery,
  templateQuery,
  templates,
  type TemplateDetail,
  type TemplateListItem,
} from '../api/templates';
import { afterPaint } from '../components/after-paint';
import { Button } from '../components/button';
import { useNearWindow } from '../components/near-window';
import { Select } from '../components/select';
import { Announced, Badge, Callout, Failure, Skeleton } from '../components/state';
import { lazyPart } from '../components/lazy-part';
import { whenOnline } from '../components/when-online';
import { mayDo, useCaller } from '../shell/caller';
import { useTexts } from '../texts/texts';
import type { CodeEditor, CodeEditorProps } from './code-editor';
import { cultureName } from './culture-name';
import { useDebounced } from './use-debounced';
import { useRenderData } from './use-render-data';

const PreviewPane = lazyPart(
  () => import('./preview-pane'),
  ({ PreviewPane }) => PreviewPane,
);
const SampleDataForm = lazyPart(
  () => import('./sample-data-form'),
  ({ SampleDataForm }) => SampleDataForm,
);

const QUIET_MILLISECONDS = 350;

interface WriteViewProps {
  template: TemplateDetail & { etag?: string | undefined };
  cultures: readonly TemplateListItem[];
  /** Told whether there is text that is not saved; false once the view goes away. */
  onUnsavedChange: (hasUnsavedText: boolean) => void;
}

/** The source, and beside it what it becomes while one writes. */
export function WriteView({ template, cultures, onUnsavedChange }: WriteViewProps) {
  const texts = useTexts();
  const { t } = texts;
  const { name, culture } = template;
  const key = { name, culture };
  const stored = template.draft ?? template.published;
  const caller = useCaller();
  const isReadOnly = !mayDo(caller, 'Templating.Templates.Manage');
  const navigate = useNavigate();
  const queries = useQueryClient();

  const [content, setContent] = useState(stored?.content ?? '');
  const [savedEtag, setSavedEtag] = useState(template.etag);
  const [savedContent, setSavedContent] = useState(content);
  // Another state, as after publishing, is another version of the same text. Where somebody else changed the text, the
  // version that was read is sent, which is refused.
  const etag = stored?.content === savedContent ? template.etag : savedEtag;
  const isDirty = content !== savedContent;
  useEffect(() => {
    onUnsavedChange(isDirty);
    return () => onUnsavedChange(false);
  }, [isDirty, onUnsavedChange]);
  const settled = useDebounced(content, QUIET_MILLISECONDS);
  // The text that people came for is first; on a machine that is busy anyway all at once takes longer than one after the other.
  const [hasEditor, setHasEditor] = useState(false);
  const showRest = useCallback(() => startTransition(() => setHasEditor(true)), []);
  const { variables, errors, isSound, shape, data, settledData, setData } = useRenderData(
    key,
    settled,
    hasEditor,
  );
  const { data: settingNames = [] } = useQuery({ ...settingNamesQuery, enabled: hasEditor });
  const names = useMemo(() => {
    const all = [...(variables?.modelVariables ?? []), ...(variables?.globalVariables ?? [])];
    return [...all.map((variable) => variable.name), ...settingNames.map((one) => `settings.${one}`)];
  }, [variables, settingNames]);

  const save = useMutation({
    mutationFn: async (text: string) => {
      const body = { name, ...cultureQuery(culture), content: text };
      return templates.putTemplate({ params: { name }, body, ifMatch: etag });
    },
    onSuccess: async ({ body, etag: next }, text) => {
      setSavedContent(text);
      setSavedEtag(next);
      queries.setQueryData(templateQuery(key).queryKey, { ...body, etag: next });
      await queries.invalidateQueries({ queryKey: ['templates', 'list'] });
      await queries.invalidateQueries({ queryKey: ['templates', 'lifecycle', name] });
      await queries.invalidateQueries({ queryKey: ['templates', 'revisions', name] });
    },
  });
  const trySave = () => {
    if (!isReadOnly && content !== '' && content !== savedContent && !save.isPending) save.mutate(content);
  };
  useBlocker({
    shouldBlockFn: () => isDirty && !confirm(t('Platform.confirm.discard')),
    enableBeforeUnload: () => isDirty,
  });

  const mimeType = stored?.mimeType ?? 'text/html';
  // Much to draw, and the same while somebody types: as one element it is drawn in pieces, and not with what is around it.
  const preview = useMemo(
    () => (
      <Preview isTime={hasEditor}>
        <PreviewPane
          isSound={isSound}
          rendering={{ name, culture, content: settled, mimeType, data: settledData }}
          extra={{
            id: 'data',
            label: t('Templating.fields.data'),
            content: (
              <Suspense fallback={<Skeleton lines={4} height="2.2rem" />}>
                <SampleDataForm shape={shape} data={data} onChange={setData} />
              </Suspense>
            ),
          }}
        />
      </Preview>
    ),
    [t, hasEditor, isSound, name, culture, settled, mimeType, settledData, shape, data, setData],
  );
  return (
    <div className="workbench">
      <section className="panel source" aria-label={t('Console.templates.source')}>
        <div className="row spread source-bar">
          <Select
            hidesLabel
            label={t('Templating.fields.culture')}
            options={cultures.map((one) => ({
              id: one.culture ?? '',
              label: cultureName(texts, one.culture),
            }))}
            value={culture ?? ''}
            onChange={(next) =>
              void navigate({
                to: '/templates/$name',
                params: { name },
                search: cultureQuery(next === '' ? undefined : next),
              })
            }
          />
          <span className="row">
            {errors.length > 0 && (
              <Badge tone="bad">{t('Console.templates.errors', { count: errors.length })}</Badge>
            )}
            <Announced>
              {isDirty && <Badge tone="warn">{t('Console.templates.notSaved')}</Badge>}
              {!isDirty && save.isSuccess && (
                <span className="visually-hidden">{t('Templating.messages.draftSaved')}</span>
              )}
            </Announced>
            {!isReadOnly && (
              <Button
                look="primary"
                isPending={save.isPending}
                isDisabled={!isDirty || content === ''}
                onPress={trySave}
              >
                <Save aria-hidden />
                {t('Platform.actions.save')}
              </Button>
            )}
          </span>
        </div>
        {save.error && <Failure error={save.error} />}
        <SourceEditor
          label={t('Console.templates.source')}
          value={content}
          onChange={setContent}
          onSave={trySave}
          onReady={showRest}
          errors={errors}
          names={names}
          isReadOnly={isReadOnly}
        />
        {!isReadOnly && (
          <p className="leave-source soft small" aria-hidden>
            {t('Console.templates.leaveSource')}
          </p>
        )}
        <ErrorList errors={errors} />
      </section>
      {preview}
    </div>
  );
}

/**
 * What the text becomes, which is loaded when the editor is there and it is in sight: on a phone it is far below. Those
 * who go there by keyboard, or hear the page, ask for it by its button.
 */
function Preview({ isTime, children }: { isTime: boolean; children: ReactNode }) {
  const { t } = useTexts();
  const place = useRef<HTMLElement>(null);
  // Not only its edge.
  const isInSight = useNearWindow(place, -0.1);
  const [isAsked, setAsked] = useState(false);
  /** What holds the preview, while the button that asks for it has the focus. */
  const around = useRef<HTMLElement>(null);
  // Deferred, so that the button stays until there is something that the focus can go to.
  const isShown = useDeferredValue(isTime && (isInSight || isAsked));
  useEffect(() => {
    const workbench = around.current;
    if (!isShown || !workbench) return;
    // The tabs are drawn a moment after what they are in.
    return afterPaint(() =>
      workbench.querySelector<HTMLElement>('.preview [role="tab"][aria-selected="true"]')?.focus(),
    );
  }, [isShown]);
  const waiting = (
    <section ref={place} className="preview panel" aria-label={t('Platform.actions.preview')}>
      <button
        type="button"
        className="visually-hidden"
        onClick={() => setAsked(true)}
        onFocus={() => {
          around.current = place.current!.parentElement;
          setAsked(true);
        }}
        onBlur={() => {
          around.current = null;
        }}
      >
        {t('Platform.actions.preview')}
      </button>
    </section>
  );
  return <Suspense fallback={waiting}>{isShown ? children : waiting}</Suspense>;
}

/** The source as text, until it is painted and the editor is loaded: what people came for does not wait for it. */
function SourceEditor(props: CodeEditorProps) {
  const [Editor, setEditor] = useState<typeof CodeEditor>();
  useEffect(() => {
    const load = async () => {
      // One after the other: each is a long task, and keys are answered in between.
      await whenOnline(() => import('./code-theme'));
      await whenOnline(() => import('./markup-language'));
      await whenOnline(() => import('./template-language'));
      const { CodeEditor } = await whenOnline(() => import('./code-editor'));
      startTransition(() => setEditor(() => CodeEditor));
    };
    return afterPaint(
      () =>
        void load().catch((error: unknown) =>
          setEditor(() => {
            throw error;
          }),
        ),
    );
  }, []);
  return Editor ? <Editor {...props} /> : <pre className="source-text">{props.value}</pre>;
}

interface ErrorListProps {
  errors: readonly { message: string; line?: number | undefined; column?: number | undefined }[];
}

function ErrorList({ errors }: ErrorListProps) {
  const { t } = useTexts();
  return (
    <Announced>
      {errors.map(({ message, line = 1, column = 1 }, index) => (
        <Callout
          key={index}
          tone="warn"
          title={t('Templating.messages.parseError', { 0: line, 1: column, 2: message })}
        />
      ))}
    </Announced>
  );
}
