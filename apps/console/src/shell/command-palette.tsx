import { useNavigate } from '@tanstack/react-router';
import { ArrowRight } from 'lucide-react';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Autocomplete } from 'react-aria-components/Autocomplete';
import { Dialog } from 'react-aria-components/Dialog';
import { Menu, MenuItem } from 'react-aria-components/Menu';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { TextField } from '../components/text-field';
import { useTexts } from '../texts/texts';
import { mayDo, useCaller } from './caller';
import { namedEntity } from './named-entity';
import { reachableGroups } from './navigation';
import { useOwnSettingChange } from './use-own-settings';
import { useSignOut } from './use-sign-out';

interface Command {
  id: string;
  name: string;
  run: () => unknown;
}

const themes = ['system', 'light', 'dark'] as const;

interface CommandPaletteProps {
  /** What was written for it while it was on its way; the second time it is asked, nothing. */
  takeTyped: () => string;
  onClose: () => void;
}

/** Every page, what one does often, and each entity by its kind and id, from the keyboard. */
export function CommandPalette({ takeTyped, onClose }: CommandPaletteProps) {
  const { t, languages } = useTexts();
  const caller = useCaller();
  const navigate = useNavigate();
  const signOut = useSignOut();
  const change = useOwnSettingChange();
  const [input, setInput] = useState('');
  const field = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  // At once: the next letter is for the field.
  useLayoutEffect(() => field.current?.focus(), []);
  // Once the list follows the field, as it does then.
  useEffect(() => typeBefore(field.current!, takeTyped()), [takeTyped]);
  const entity = namedEntity(input);

  const ofTemplates = (value: string) =>
    t('Console.shell.valueOf', { name: t('Platform.areas.templates'), value });
  const tasks = [
    { to: '/imports/new', permission: 'DataExchange.Imports.Execute', name: t('Console.imports.new') },
    { to: '/exports/new', permission: 'DataExchange.Exports.Execute', name: t('Console.exports.new') },
    { to: '/new-template', permission: 'Templating.Templates.Manage', name: t('Console.templates.new') },
    {
      to: '/template-gallery',
      permission: 'Templating.Templates.Manage',
      name: ofTemplates(t('Console.templates.gallery.title')),
    },
    {
      to: '/template-categories',
      permission: 'Templating.Categories.Manage',
      name: ofTemplates(t('Console.templates.categories.title')),
    },
  ] as const;
  const commands: Command[] = [
    ...(entity
      ? [
          {
            id: 'entity',
            // Its name holds what was typed, so that it is always found.
            name: `${t('Console.palette.open')} ${input}`,
            run: () => navigate({ to: '/entities/$entityType/$entityId', params: entity }),
          },
        ]
      : []),
    ...reachableGroups(caller).flatMap(({ items }) =>
      items.map(({ text, to }) => ({ id: to, name: t(text), run: () => navigate({ to }) })),
    ),
    ...tasks
      .filter(({ permission }) => mayDo(caller, permission))
      .map(({ name, to }) => ({ id: to, name, run: () => navigate({ to }) })),
    ...themes.map((theme) => ({
      id: `theme-${theme}`,
      name: t('Console.shell.valueOf', {
        name: t('Console.shell.theme'),
        value: t(`Console.shell.themes.${theme}`),
      }),
      run: () => change('theme', theme === 'system' ? null : theme),
    })),
    ...languages.map(({ cultureName, displayName }) => ({
      id: `culture-${cultureName}`,
      name: t('Console.shell.valueOf', { name: t('Console.shell.language'), value: displayName }),
      run: () => change('culture', cultureName),
    })),
    { id: 'sign-out', name: t('Platform.actions.signOut'), run: signOut },
  ];
  const contains = (name: string, wanted: string) =>
    name.toLocaleLowerCase().includes(wanted.trim().toLocaleLowerCase());

  return (
    <ModalOverlay
      className="modal-overlay"
      isDismissable
      isOpen
      onOpenChange={(isOpen) => {
        if (!isOpen) onClose();
      }}
    >
      <Modal className="modal palette">
        <Dialog className="dialog" aria-label={t('Console.palette.title')}>
          <Autocomplete inputValue={input} onInputChange={setInput} filter={contains}>
            <TextField
              autoFocus
              inputRef={field}
              hidesLabel
              label={t('Console.palette.title')}
              placeholder={t('Console.palette.placeholder')}
            />
            {/* The focus stays in the field, so what scrolls is reached by itself. */}
            <div className="palette-list" tabIndex={0}>
              <Menu
                className="menu"
                aria-label={t('Console.palette.title')}
                items={commands}
                renderEmptyState={() => <p className="soft">{t('Platform.lists.noMatches')}</p>}
                onAction={(id) => {
                  onClose();
                  void commands.find((command) => command.id === id)?.run();
                }}
              >
                {({ id, name }) => (
                  <MenuItem id={id} className="item" textValue={name}>
                    <ArrowRight aria-hidden />
                    {name}
                  </MenuItem>
                )}
              </Menu>
            </div>
          </Autocomplete>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

/** As if it had been typed before what is in the field. */
function typeBefore(field: HTMLInputElement, text: string): void {
  if (text === '') return;
  const event = { inputType: 'insertText', data: text, bubbles: true };
  field.dispatchEvent(new InputEvent('beforeinput', event));
  field.setRangeText(text, 0, 0, 'preserve');
  field.setSelectionRange(field.value.length, field.value.length);
  field.dispatchEvent(new InputEvent('input', event));
}
