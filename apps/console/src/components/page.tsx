import { useEffect, type ReactNode } from 'react';
import { useTexts } from '../texts/texts';

interface PageProps {
  title: string;
  /** What the page is for, in one sentence. */
  lead?: ReactNode;
  /** Above the title: the way back. */
  back?: ReactNode;
  actions?: ReactNode;
  /** Uses the whole width of the window. */
  isWide?: boolean;
  children: ReactNode;
}

/** The frame of every page: its title, also that of the window, and what can be done here. */
export function Page({ title, lead, back, actions, isWide = false, children }: PageProps) {
  const { t } = useTexts();
  useEffect(() => {
    document.title = `${title} · ${t('Platform.name')}`;
  }, [title, t]);
  return (
    <div className={isWide ? 'page wide' : 'page'}>
      <header className="page-header">
        <div className="stack tight">
          {back}
          <h1>{title}</h1>
          {lead && <p className="soft">{lead}</p>}
        </div>
        {actions && <div className="row">{actions}</div>}
      </header>
      {children}
    </div>
  );
}
