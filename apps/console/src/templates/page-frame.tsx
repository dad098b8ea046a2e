import { useEffect, useRef, useState, type RefObject } from 'react';

interface PageFrameProps {
  title: string;
  html: string;
  /** An earlier form of the page: what is new against it is marked. */
  comparedWith?: string | undefined;
  className?: string;
  /** A picture of the page only: nothing in it is read aloud or focused. */
  isPicture?: boolean;
}

/**
 * A page that somebody else wrote. In its frame no script runs and nothing leads anywhere; the blank page of the
 * gateway has a policy that allows it styles and nothing else.
 */
export function PageFrame({ title, html, comparedWith, className, isPicture = false }: PageFrameProps) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [isLoaded, setLoaded] = useState(false);
  useEffect(() => {
    const document = frame.current?.contentDocument;
    if (isLoaded && document) show(document, html, comparedWith);
  }, [isLoaded, html, comparedWith]);
  const hasFocus = useFrameFocus(frame);
  return (
    <iframe
      ref={frame}
      title={title}
      sandbox="allow-same-origin"
      src="/console/blank"
      onLoad={() => setLoaded(true)}
      data-focus-visible={hasFocus || undefined}
      className={['page-frame', className].filter(Boolean).join(' ')}
      {...(isPicture ? { 'aria-hidden': true, tabIndex: -1, inert: true } : {})}
    />
  );
}

/** Whether the keys scroll the frame. No selector matches a frame whose content has the focus. */
function useFrameFocus(frame: RefObject<HTMLIFrameElement | null>): boolean {
  const [hasFocus, setFocus] = useState(false);
  useEffect(() => {
    const look = () => setFocus(document.activeElement === frame.current);
    addEventListener('blur', look);
    addEventListener('focus', look);
    return () => {
      removeEventListener('blur', look);
      removeEventListener('focus', look);
    };
  }, [frame]);
  return hasFocus;
}

/** Links look as they will, and lead nowhere. */
const FRAME_STYLE = `a { pointer-events: none; }
[data-changed] { background: #fff1b8 !important; outline: 2px solid #d99a00; outline-offset: 2px; }`;

function show(document: Document, html: string, comparedWith: string | undefined): void {
  const view = document.defaultView!;
  const { scrollX, scrollY } = view;
  const page = document.documentElement;
  // Parsed in the frame, under its policy; scripts that come this way never run.
  page.innerHTML = html;
  page.lang = /<html[^>]*\slang="([^"]*)"/i.exec(html)?.[1] ?? '';
  for (const element of page.querySelectorAll('script, link, base, meta[http-equiv]')) element.remove();
  for (const link of page.querySelectorAll('a')) link.tabIndex = -1;
  if (comparedWith !== undefined) markChanges(document, comparedWith);
  const style = document.createElement('style');
  style.textContent = FRAME_STYLE;
  document.head.append(style);
  view.scrollTo(scrollX, scrollY);
}

/** Marks the innermost elements whose text the earlier page does not have. */
function markChanges(page: Document, earlierHtml: string): void {
  const earlier = page.createElement('html');
  earlier.innerHTML = earlierHtml;
  const known = new Set([...earlier.querySelectorAll('body *')].map(textOf));
  for (const element of page.body.querySelectorAll('*')) {
    if (element.closest('svg, style, script') || known.has(textOf(element))) continue;
    const hasChangedChild = [...element.children].some((child) => !known.has(textOf(child)));
    if (!hasChangedChild) element.setAttribute('data-changed', '');
  }
}

const textOf = ({ textContent }: Element): string => textContent.replace(/\s+/g, ' ').trim();
