import { Check, LogOut } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { Header } from 'react-aria-components/Header';
import { Menu, MenuItem, MenuSection, MenuTrigger } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { Separator } from 'react-aria-components/Separator';
import { usePreferences } from '../texts/preferences';
import { useTexts } from '../texts/texts';
import { useCaller } from './caller';
import { PersonName } from './person-button';
import { useOwnSettingChange } from './use-own-settings';
import { useSignOut } from './use-sign-out';

const themes = ['system', 'light', 'dark'] as const;

/** Who is signed in, how the console looks and speaks to them, and the way out. */
export function PersonMenu() {
  const { t, languages, culture } = useTexts();
  const { userName } = useCaller();
  const { theme = 'system' } = usePreferences();
  const change = useOwnSettingChange();
  const signOut = useSignOut();
  // It opens once its button has the focus, so that the focus comes back to it.
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const frame = requestAnimationFrame(() => setOpen(true));
    return () => cancelAnimationFrame(frame);
  }, []);

  const act = (key: string) => {
    const [kind, value = ''] = key.split(':');
    if (kind === 'theme') change('theme', value === 'system' ? null : value);
    if (kind === 'culture') change('culture', value);
    if (kind === 'sign-out') void signOut();
  };

  return (
    <MenuTrigger isOpen={isOpen} onOpenChange={setOpen}>
      <Button autoFocus className="person-button">
        <PersonName />
      </Button>
      <Popover className="popover" placement="top start" offset={6}>
        <Menu className="menu" aria-label={userName} onAction={(key) => act(String(key))}>
          <MenuSection selectionMode="single" disallowEmptySelection selectedKeys={[`culture:${culture}`]}>
            <Header className="heading">{t('Console.shell.language')}</Header>
            {languages.map(({ cultureName, displayName }) => (
              <Choice key={cultureName} id={`culture:${cultureName}`} name={displayName} />
            ))}
          </MenuSection>
          <Separator elementType="hr" />
          <MenuSection selectionMode="single" disallowEmptySelection selectedKeys={[`theme:${theme}`]}>
            <Header className="heading">{t('Console.shell.theme')}</Header>
            {themes.map((name) => (
              <Choice key={name} id={`theme:${name}`} name={t(`Console.shell.themes.${name}`)} />
            ))}
          </MenuSection>
          <Separator elementType="hr" />
          <MenuItem id="sign-out" className="item">
            <LogOut aria-hidden />
            {t('Platform.actions.signOut')}
          </MenuItem>
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

function Choice({ id, name }: { id: string; name: string }) {
  return (
    <MenuItem id={id} className="item" textValue={name}>
      {({ isSelected }) => (
        <>
          {name}
          {isSelected && <Check aria-hidden className="chosen" />}
        </>
      )}
    </MenuItem>
  );
}
