import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { Suspense, useState, type ReactNode } from 'react';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components/Tabs';
import { documentQuery, Excel, Pdf, previewQuery, type Rendering } from '../api/templates';
import { Button } from '../components/button';
import { saveFile } from '../components/save-file';
import { Callout, Failure, Skeleton } from '../components/state';
import { lazyPart } from '../components/lazy-part';
import { useTexts } from '../texts/texts';
import { PageFrame } from './page-frame';

const PdfPages = lazyPart(
  () => import('./pdf-pages'),
  ({ PdfPages }) => PdfPages,
);
const WorkbookSheets = lazyPart(
  () => import('./workbook-sheets'),
  ({ WorkbookSheets }) => WorkbookSheets,
);

interface PreviewPaneProps {
  rendering: Rendering;
  /** Whether the text has no errors that are known; until it has none, the page from before stays. */
  isSound?: boolean;
  /** A tab behind those of the formats. */
  extra?: { id: string; label: string; content: ReactNode } | undefined;
}

/** What a text becomes, in each format; it follows what is written. */
export function PreviewPane({ rendering, isSound = true, extra }: PreviewPaneProps) {
  const { t } = useTexts();
  const isMarkup = /html|xml/.test(rendering.mimeType);
  const [tab, setTab] = useState(isMarkup ? 'page' : 'text');
  return (
    <section className="preview panel" aria-label={t('Platform.actions.preview')}>
      <Tabs selectedKey={tab} onSelectionChange={(key) => setTab(String(key))} className="preview-tabs">
        <TabList aria-label={t('Templating.fields.format')} className="tabs">
          {isMarkup && (
            <Tab id="page" className="tab">
              {t('Console.templates.preview.page')}
            </Tab>
          )}
          <Tab id="text" className="tab">
            {t('Console.templates.preview.text')}
          </Tab>
          <Tab id="pdf" className="tab">
            PDF
          </Tab>
          {isMarkup && (
            <Tab id="excel" className="tab">
              Excel
            </Tab>
          )}
          {extra && (
            <Tab id={extra.id} className="tab">
              {extra.label}
            </Tab>
          )}
        </TabList>
        <TabPanel id="page" className="preview-panel">
          <Rendered rendering={rendering} isSound={isSound} isText={false} />
        </TabPanel>
        <TabPanel id="text" className="preview-panel">
          <Rendered rendering={rendering} isSound={isSound} isText />
        </TabPanel>
        <TabPanel id="pdf" className="preview-panel">
          <Document rendering={rendering} isSound={isSound} format={Pdf}>
            {(content) => <PdfPages content={content} />}
          </Document>
        </TabPanel>
        <TabPanel id="excel" className="preview-panel">
          <Document rendering={rendering} isSound={isSound} format={Excel}>
            {(content) => <WorkbookSheets content={content} />}
          </Document>
        </TabPanel>
        {extra && (
          <TabPanel id={extra.id} className="preview-panel scrolling">
            {extra.content}
          </TabPanel>
        )}
      </Tabs>
    </section>
  );
}

interface RenderedProps {
  rendering: Rendering;
  isSound: boolean;
  isText: boolean;
}

function Rendered({ rendering, isSound, isText }: RenderedProps) {
  const { t } = useTexts();
  const { data, error } = useQuery({
    ...previewQuery(rendering),
    enabled: isSound && rendering.content !== '',
  });
  if (!data && !isSound) return <p className="soft">{t('Console.templates.preview.waits')}</p>;
  if (!data) return error ? <Failure error={error} /> : <Skeleton lines={5} height="2rem" />;
  return (
    <>
      {error && <Failure error={error} />}
      {data.subject && (
        <p className="preview-subject">
          <span className="soft">{t('Templating.fields.subject')}</span> {data.subject}
        </p>
      )}
      {data.missing.length > 0 && (
        <Callout
          tone="warn"
          title={t('Templating.messages.missingVariables', { count: data.missing.length })}
        >
          <code>{data.missing.join(', ')}</code>
        </Callout>
      )}
      {isText ? (
        <pre className="preview-text" tabIndex={0} aria-label={t('Console.templates.preview.text')}>
          {data.plainText ?? ''}
        </pre>
      ) : (
        <PageFrame title={t('Console.templates.preview.page')} html={data.html} />
      )}
    </>
  );
}

interface DocumentProps {
  rendering: Rendering;
  isSound: boolean;
  format: typeof Pdf | typeof Excel;
  children: (content: Blob) => ReactNode;
}

function Document({ rendering, isSound, format, children }: DocumentProps) {
  const { data, error, refetch } = useQuery({
    ...documentQuery(rendering, format),
    enabled: isSound && rendering.content !== '',
  });
  if (error) return <Failure error={error} onRetry={refetch} />;
  if (!data) return <Skeleton lines={5} height="3rem" />;
  return (
    <div className="stack document">
      <Suspense fallback={<Skeleton lines={5} height="3rem" />}>{children(data.content)}</Suspense>
      <div>
        <Button onPress={() => saveFile(data.content, data.fileName)}>
          <Download aria-hidden />
          {data.fileName}
        </Button>
      </div>
    </div>
  );
}
