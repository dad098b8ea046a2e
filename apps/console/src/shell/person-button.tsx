import { Suspense, useState } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { Avatar } from '../components/brand';
import { lazyPart } from '../components/lazy-part';
import { useCaller } from './caller';

const PersonMenu = lazyPart(
  () => import('./person-menu'),
  ({ PersonMenu }) => PersonMenu,
);

/** Who is signed in. The menu is loaded for those who open it. */
export function PersonButton() {
  const [isWanted, setWanted] = useState(false);
  const button = (
    <AriaButton className="person-button" aria-haspopup="menu" onPress={() => setWanted(true)}>
      <PersonName />
    </AriaButton>
  );
  if (!isWanted) return button;
  return (
    <Suspense fallback={button}>
      <PersonMenu />
    </Suspense>
  );
}

export function PersonName() {
  const { userName, tenantName, tenantId } = useCaller();
  return (
    <>
      <Avatar name={userName} />
      <span className="truncate">{userName}</span>
      <span className="soft truncate">{tenantName ?? tenantId}</span>
    </>
  );
}
