import { newId } from '@plinth/kernel/uuid';
import { ApiProblem } from '@plinth/sdk/api-problem';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Paperclip, X } from 'lucide-react';
import { useId, useRef, useState, type KeyboardEvent } from 'react';
import { FileTrigger } from 'react-aria-components/FileTrigger';
import { useController } from 'react-hook-form';
import { STORED_ERRORS } from '../api/send-once';
import { suggestionsQuery, timeline, timelineQuery, type Entry, type Suggestion } from '../api/timeline';
import type { Entity } from '../api/workflow';
import { Button } from '../components/button';
import { IconButton } from '../components/icon-button';
import { Checkbox } from '../components/choices';
import { Failure } from '../components/state';
import { useStoredState } from '../components/stored-state';
import { Form, useContractForm } from '../forms/contract-form';
import { mayDo, useCaller } from '../shell/caller';
import { useTexts } from '../texts/texts';
import { draftAfter, type Draft } from './draft';
import { draftName } from './draft-name';
import { mentionBefore, withMentions } from './mentions';
import { INTERNAL_NOTE } from './timeline';

interface ComposerProps {
  entity: Entity;
  /** What is replied to. */
  parent?: Entry;
  onDone?: () => void;
}

const PROPOSALS_MAX = 6;

/** Whether it was refused for good; else the same request may be under way, or its response was lost. */
const isRefused = (error: unknown): boolean =>
  error instanceof ApiProblem &&
  STORED_ERRORS.includes(error.status) &&
  error.retryAfterSeconds === undefined;

const isGone = (entity: Entity, id: string): Promise<boolean> =>
  timeline.getTimelineEntry({ params: { ...entity, id } }).then(
    () => false,
    (error: unknown) => error instanceof ApiProblem && error.status === 404,
  );

/** Where one writes a comment, an internal note or a reply; people are mentioned by `@` and the begin of their name. */
export function Composer({ entity, parent, onDone }: ComposerProps) {
  const { t } = useTexts();
  const caller = useCaller();
  const queries = useQueryClient();
  const field = useRef<HTMLTextAreaElement>(null);
  const labelId = useId();
  const listId = useId();
  const [search, setSearch] = useState<string>();
  const { data: found = [] } = useQuery({ ...suggestionsQuery(search ?? ''), enabled: search !== undefined });
  const proposals = search === undefined ? [] : found.slice(0, PROPOSALS_MAX);
  const [pointed, setPointed] = useState(0);
  // A reply to an internal note stays among those who see the note.
  const isNoteOnly = parent?.entryType === INTERNAL_NOTE;
  const empty: Draft = { body: '', people: [], files: [], isNote: isNoteOnly };
  const name = draftName('comment', caller, entity, parent?.id);
  const [draft, setDraft] = useStoredState(name, empty);
  const { people, files, isNote } = draft;
  const change = (changed: Partial<Draft>) => setDraft((former) => ({ ...former, ...changed }));

  const form = useContractForm({
    shape: 'comment',
    defaultValues: { body: draft.body },
    words: { 'body.NotEmpty': 'Console.entities.empty', 'body.Range': 'Console.entities.tooManyMentions' },
    send: async ({ body: written }) => {
      const body = {
        entryType: isNote ? (1 as const) : (0 as const),
        body: withMentions(written, people),
        attachmentBlobIds: files.map(({ id }) => id),
        ...(parent ? { parentEntryId: parent.id } : {}),
      };
      const request = JSON.stringify(body);
      const { sent } = draft;
      const post = async (idempotencyKey: string) => {
        change({ sent: { request, idempotencyKey } });
        return (await timeline.postTimelineEntry({ params: entity, body, idempotencyKey })).body;
      };
      try {
        const formerKey = sent?.request === request ? sent.idempotencyKey : undefined;
        const entry = await post(formerKey ?? newId());
        // Under the key of before, that one is meant, which may have been removed since.
        if (formerKey !== undefined && (await isGone(entity, entry.id))) await post(newId());
      } catch (error) {
        // What is refused is another request once it is sent again.
        if (isRefused(error)) change({ sent: undefined });
        throw error;
      }
    },
    onSent: ({ body: written }) => {
      setDraft((former) => draftAfter(former, { body: written, files }, empty));
      if (form.values().body === written) form.reset({ body: '' });
      // Read again beside it: the next comment does not wait for that.
      void queries.invalidateQueries({ queryKey: timelineQuery(entity).queryKey });
      onDone?.();
    },
  });
  const {
    field: { value: text, onChange: setText, ref: registered },
    fieldState: { error: wrong },
  } = useController({ control: form.control, name: 'body' });
  const attach = useMutation({
    mutationFn: async (file: File) => (await timeline.postBlob({ file, fileName: file.name })).body,
    onSuccess: ({ id, fileName }) =>
      setDraft((former) => ({ ...former, files: [...former.files, { id, fileName }] })),
  });

  const write = (next: string, caret: number) => {
    setText(next);
    change({ body: next });
    setSearch(mentionBefore(next.slice(0, caret)));
    setPointed(0);
  };
  const mention = (person: Suggestion) => {
    const caret = field.current?.selectionStart ?? text.length;
    const before = text.slice(0, caret).replace(/@[^@]*$/, `@${person.displayName} `);
    const body = before + text.slice(caret);
    setText(body);
    change({ body, people: [...people, person] });
    setSearch(undefined);
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const person = proposals[pointed];
    const { altKey, ctrlKey, metaKey, shiftKey } = event;
    // What is pressed together, or while a word is being composed, is for the text.
    if (!person || event.nativeEvent.isComposing || altKey || ctrlKey || metaKey || shiftKey) return;
    const steps: Record<string, () => void> = {
      ArrowDown: () => setPointed((pointed + 1) % proposals.length),
      ArrowUp: () => setPointed((pointed + proposals.length - 1) % proposals.length),
      Enter: () => mention(person),
      Escape: () => setSearch(undefined),
    };
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    step();
  };
  const error = form.failure ?? attach.error;

  return (
    <Form form={form} className={isNote ? 'composer panel note' : 'composer panel'}>
      <label className="visually-hidden" id={labelId}>
        {t(parent ? 'Platform.actions.reply' : 'Console.entities.write')}
      </label>
      <textarea
        ref={(element) => {
          field.current = element;
          registered(element);
        }}
        className="input"
        aria-labelledby={labelId}
        {...(wrong
          ? { 'aria-invalid': true, 'aria-describedby': `${labelId}error`, 'data-invalid': true }
          : {})}
        // Whoever asks to reply wants to write.
        autoFocus={parent !== undefined}
        rows={parent ? 2 : 3}
        placeholder={t('Timeline.messages.writeComment')}
        value={text}
        onChange={({ target }) => write(target.value, target.selectionStart)}
        onKeyDown={onKeyDown}
        onBlur={() => setSearch(undefined)}
        aria-autocomplete="list"
        {...(proposals.length > 0
          ? { 'aria-controls': listId, 'aria-activedescendant': `${listId}${pointed}` }
          : {})}
      />
      {wrong && (
        <p id={`${labelId}error`} className="problem small">
          {wrong.message}
        </p>
      )}
      {proposals.length > 0 && (
        <MentionList id={listId} people={proposals} pointed={pointed} onChoose={mention} />
      )}
      {files.length > 0 && (
        <ul className="chips">
          {files.map(({ id, fileName }) => (
            <li key={id} className="badge">
              <span className="truncate">{fileName}</span>
              <IconButton
                label={t('Console.entities.detach', { name: fileName })}
                onPress={() => change({ files: files.filter((file) => file.id !== id) })}
              >
                <X aria-hidden />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
      {error && <Failure error={error} />}
      <div className="row spread">
        <span className="row">
          <FileTrigger onSelect={(chosen) => chosen?.[0] && attach.mutate(chosen[0])}>
            <IconButton label={t('Platform.actions.attach')} isPending={attach.isPending}>
              <Paperclip aria-hidden />
            </IconButton>
          </FileTrigger>
          {mayDo(caller, 'Timeline.InternalNotes.Create') && !isNoteOnly && (
            <Checkbox isSelected={isNote} onChange={(next) => change({ isNote: next })}>
              {t('Timeline.entryType.InternalNote')}
            </Checkbox>
          )}
          {isNote && <span className="soft small">{t('Timeline.messages.onlyStaff')}</span>}
        </span>
        <span className="row">
          {onDone && (
            <Button
              onPress={() => {
                setDraft(empty);
                onDone();
              }}
            >
              {t('Platform.actions.cancel')}
            </Button>
          )}
          <Button type="submit" look="primary" isPending={form.isPending}>
            {t(parent ? 'Platform.actions.reply' : 'Console.entities.post')}
          </Button>
        </span>
      </div>
    </Form>
  );
}

interface MentionListProps {
  id: string;
  people: readonly Suggestion[];
  /** The index of the person whom Enter chooses. */
  pointed: number;
  onChoose: (person: Suggestion) => void;
}

/** The people who may be meant. The focus stays where one writes, and keys are answered there. */
function MentionList({ id, people, pointed, onChoose }: MentionListProps) {
  const { t } = useTexts();
  return (
    <ul id={id} className="list" role="listbox" aria-label={t('Console.entities.mention')}>
      {people.map((person, index) => (
        <li
          key={person.id}
          id={`${id}${index}`}
          className="item"
          role="option"
          aria-selected={index === pointed}
          {...(index === pointed && { 'data-focused': true })}
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onChoose(person)}
        >
          @{person.displayName}
        </li>
      ))}
    </ul>
  );
}
