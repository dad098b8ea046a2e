import type { EditorView } from '@codemirror/view';
import { ApiProblem } from '@plinth/sdk/api-problem';
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
import { Overtaken } from '../components/overtaken';
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

const SourceDiff = lazyPart(
  () => import('./source-diff'),
  ({ SourceDiff }) => SourceDiff,
);

const QUIET_MILLISECONDS = 350;

interface WriteViewProps {
  template: TemplateDetail & { etag?: string | undefined };
  cultures: readonly TemplateListItem[];
  /** Told whether there is text that is not saved; false once the view goes away. */
  onUnsavedChange: (hasUnsavedText: boolean) => void;
}

const contentOf = ({ draft, published }: TemplateDetail): string => (draft ?? published)?.content ?? '';

/** Whether there is another version than the one that was sent. */
const isStale = (error: unknown): boolean => error instanceof ApiProblem && error.slug === 'stale-version';

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
  const [isTime, setTime] = useState(false);
  const [hasEditor, setHasEditor] = useState(false);
  const showRest = useCallback(
    (isEditorThere: boolean) =>
      startTransition(() => {
        setTime(true);
        setHasEditor(isEditorThere);
      }),
    [],
  );
  const { variables, errors, isSound, shape, data, settledData, setData } = useRenderData(
    key,
    settled,
    isTime,
  );
  const { data: settingNames = [] } = useQuery({ ...settingNamesQuery, enabled: hasEditor });
  const names = useMemo(() => {
    const all = [...(variables?.modelVariables ?? []), ...(variables?.globalVariables ?? [])];
    return [...all.map((variable) => variable.name), ...settingNames.map((one) => `settings.${one}`)];
  }, [variables, settingNames]);

  const readAgain = () => queries.fetchQuery({ ...templateQuery(key), staleTime: 0 });
  const save = useMutation({
    mutationFn: async ({ text, over = etag }: { text: string; over?: string | undefined }) => {
      const body = { name, ...cultureQuery(culture), content: text };
      const put = (ifMatch: string | undefined) => templates.putTemplate({ params: { name }, body, ifMatch });
      try {
        return await put(over);
      } catch (error) {
        if (!isStale(error)) throw error;
        const read = await readAgain();
        // Publishing, and what else changes no text, makes another version too.
        if (contentOf(read) !== savedContent) throw error;
        return put(read.etag);
      }
    },
    // What is on the page is read again beside it: the next save does not wait for that.
    onSuccess: ({ body, etag: next }, { text }) => {
      setSavedContent(text);
      setSavedEtag(next);
      queries.setQueryData(templateQuery(key).queryKey, { ...body, etag: next });
      void queries.invalidateQueries({ queryKey: ['templates', 'list'] });
      void queries.invalidateQueries({ queryKey: ['templates', 'lifecycle', name] });
      void queries.invalidateQueries({ queryKey: ['templates', 'revisions', name] });
    },
  });
  const trySave = (text: string) => {
    if (isReadOnly || text === '' || text === savedContent || save.isPending) return;
    setTaken(false);
    save.mutate({ text });
  };
  const isOvertaken = isStale(save.error);
  const source = useRef<HTMLElement>(null);
  const focusSource = () =>
    source.current?.querySelector<HTMLElement>('.code-editor .cm-content, textarea.source-text')?.focus();
  /** As somebody else saved it meanwhile. */
  const theirs = useMutation<Awaited<ReturnType<typeof readAgain>>, Error, 'take' | 'replace'>({
    mutationFn: readAgain,
  });
  const [hasTaken, setTaken] = useState(false);
  const takeTheirs = () =>
    theirs.mutate('take', {
      onSuccess: (read) => {
        const text = contentOf(read);
        setContent(text);
        setSavedContent(text);
        setSavedEtag(read.etag);
        save.reset();
        setTaken(true);
        focusSource();
      },
    });
  const saveMine = () =>
    theirs.mutate('replace', {
      onSuccess: ({ etag: over }) => save.mutate({ text: content, over }, { onSettled: focusSource }),
    });
  const chosen = theirs.isPending ? theirs.variables : undefined;
  useBlocker({
    shouldBlockFn: () => isDirty && !confirm(t('Platform.confirm.discard')),
    enableBeforeUnload: () => isDirty,
  });

  const mimeType = stored?.mimeType ?? 'text/html';
  // Much to draw, and the same while somebody types: as one element it is drawn in pieces, and not with what is around it.
  const preview = useMemo(
    () => (
      <Preview isTime={isTime}>
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
    [t, isTime, isSound, name, culture, settled, mimeType, settledData, shape, data, setData],
  );
  return (
    <div className="workbench">
      <section ref={source} className="panel source" aria-label={t('Console.templates.source')}>
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
              {!isDirty && hasTaken && (
                <span className="visually-hidden">{t('Console.templates.tookTheirs')}</span>
              )}
            </Announced>
            {!isReadOnly && (
              <Button
                look="primary"
                isPending={save.isPending}
                isDisabled={!isDirty || content === ''}
                onPress={() => trySave(content)}
              >
                <Save aria-hidden />
                {t('Platform.actions.save')}
              </Button>
            )}
          </span>
        </div>
        {save.error && !isOvertaken && <Failure error={save.error} />}
        {isOvertaken && (
          <Overtaken
            title={t('Console.templates.overtaken')}
            chosen={chosen}
            onTake={takeTheirs}
            onReplace={saveMine}
          />
        )}
        {isOvertaken && (
          <Suspense fallback={<Skeleton lines={4} />}>
            <SourceDiff before={contentOf(template)} after={settled} />
          </Suspense>
        )}
        {theirs.error && <Failure error={theirs.error} />}
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
  const isInSight = useNearWindow(place, -0.25);
  const [isAsked, setAsked] = useState(false);
  /** What holds the preview, while the button that asks for it has the focus. */
  const around = useRef<HTMLElement>(null);
  // Deferred, so that the button stays until there is something that the focus can go to.
  const isShown = useDeferredValue(isTime && (isInSight || isAsked));
  useEffect(() => {
    const workbench = around.current;
    if (!isShown || !workbench) return;
    let frame = 0;
    // The tabs are drawn a moment after what they are in, which is long where much else is to be done.
    const seek = () => {
      // Its button is gone, and the focus nowhere, or at its place (`useKeptFocus`); who went elsewhere stays there.
      if (frame !== 0 && !document.activeElement?.matches('body, [tabindex="-1"]:not([role])')) return;
      const tab = workbench.querySelector<HTMLElement>('.preview [role="tab"][aria-selected="true"]');
      if (tab) tab.focus();
      else frame = requestAnimationFrame(seek);
    };
    seek();
    return () => cancelAnimationFrame(frame);
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

/**
 * The source as text, until it is painted and the editor is loaded: what people came for does not wait for it. Who points
 * with a finger mostly looks, on a phone: there it is a plain field, and the editor comes to those who touch it, or when
 * there are errors to be underlined.
 */
function SourceEditor({ onReady, ...props }: SourceEditorProps) {
  const { label, value, onChange, errors, isReadOnly } = props;
  const [isTouched] = useState(() => matchMedia('(pointer: coarse)').matches);
  const [isAsked, setAsked] = useState(!isTouched);
  // Once it was asked for it stays, also where the errors are gone before it is there.
  if (!isAsked && errors.length > 0) setAsked(true);
  const [Editor, setEditor] = useState<typeof CodeEditor>();
  const [isShown, setShown] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (!isAsked) return afterPaint(() => onReady(false));
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
  }, [isAsked, onReady]);
  const onEditor = useCallback(
    (editor: EditorView | undefined) => {
      const plain = field.current;
      if (editor && plain && plain === document.activeElement) {
        // Where somebody writes, they go on writing: also in what they wrote since the editor began to be made.
        const selection = { anchor: plain.selectionStart, head: plain.selectionEnd };
        const changes = { from: 0, to: editor.state.doc.length, insert: plain.value };
        editor.dispatch({ changes, selection, scrollIntoView: true });
        editor.focus();
      }
      setShown(editor !== undefined);
      if (editor) onReady(true);
    },
    [onReady],
  );
  return (
    <>
      {Editor && <Editor {...props} onEditor={onEditor} />}
      {!isShown &&
        (isTouched ? (
          <textarea
            ref={field}
            className="source-text"
            aria-label={label}
            spellCheck={false}
            autoCapitalize="off"
            autoCorrect="off"
            readOnly={isReadOnly}
            value={value}
            onChange={({ target }) => onChange(target.value)}
            onFocus={() => setAsked(true)}
          />
        ) : (
          <pre className="source-text">{value}</pre>
        ))}
    </>
  );
}

interface SourceEditorProps extends Omit<CodeEditorProps, 'onEditor'> {
  /** Told when the rest of the page may come: once the editor is there, or while nobody asks for it. */
  onReady: (isEditorThere: boolean) => void;
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
