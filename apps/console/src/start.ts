import { askEarly, firstQuestions, isEarly } from './session/early-answers';
import { storedSession } from './session/stored-session';
import { showStoredFont } from './styles/stored-font';
import { storedPreferences } from './texts/stored-preferences';
import { textsSelection } from './texts/texts-selection';

// A script of its own, which is there long before the application: appearance, font, texts, who is signed
// in and what the page is for do not wait for that.
const { culture, theme } = storedPreferences();
if (theme) document.documentElement.style.colorScheme = theme;

// It can be late all the same, and nobody takes then what it asks.
if (isEarly()) {
  const session = storedSession();
  const query = new URLSearchParams(textsSelection(culture, session?.tenantId));
  const link = document.createElement('link');
  Object.assign(link, { rel: 'preload', as: 'fetch', crossOrigin: 'anonymous' });
  link.href = `/localization?${query.toString()}`;
  document.head.append(link);
  if (session) askEarly(session, ['/me', ...firstQuestions(location)]);
}

// Before there is a text. Nothing depends on it.
showStoredFont().catch(() => undefined);

// The first question about a language makes the browser read what it knows of all of them, for 12 ms on a fast machine: now,
// when nothing else is to be done, and not as a part of the application's first task.
setTimeout(() => Intl.DateTimeFormat.supportedLocalesOf('en'));
