import { ChevronLeft, ChevronRight } from 'lucide-react';
import { getDocument, PDFWorker, type PDFDocumentLoadingTask, type PDFDocumentProxy } from 'pdfjs-dist';
import PdfWorker from 'pdfjs-dist/build/pdf.worker.min.mjs?worker';
import { useEffect, useRef, useState } from 'react';
import { IconButton } from '../components/icon-button';
import { Failure, Skeleton } from '../components/state';
import { useTexts } from '../texts/texts';

const PIXELS_WIDE = 1_200;

/** Of all documents: one that is given stays when a document that it read is destroyed. */
const worker = PDFWorker.create({ port: new PdfWorker() });

/** A PDF, page by page. */
export function PdfPages({ content }: { content: Blob }) {
  const { t } = useTexts();
  const [document, setDocument] = useState<PDFDocumentProxy>();
  const latest = useRef<PDFDocumentProxy>(undefined);
  const [error, setError] = useState<Error>();
  const [number, setNumber] = useState(1);

  useEffect(() => {
    let isGone = false;
    let opening: PDFDocumentLoadingTask | undefined;
    const open = async () => {
      const data = await content.arrayBuffer();
      if (isGone) return;
      opening = getDocument({ data, worker, isEvalSupported: false, useWasm: false });
      const opened = await opening.promise;
      if (isGone) return;
      opening = undefined;
      latest.current = opened;
      setDocument(opened);
      setError(undefined);
      setNumber((former) => Math.min(former, opened.numPages));
    };
    open().catch((reason: unknown) => {
      if (!isGone) setError(reason as Error);
    });
    return () => {
      isGone = true;
      void opening?.destroy();
    };
  }, [content]);
  // Once another one is shown in its place: the worker keeps what it read until then.
  useEffect(() => () => void document?.loadingTask.destroy(), [document]);
  // One that came too late to be shown is nobody else's to destroy.
  useEffect(() => () => void latest.current?.loadingTask.destroy(), []);

  if (error) return <Failure error={error} />;
  if (!document) return <Skeleton lines={4} height="3rem" />;
  const count = document.numPages;
  return (
    <div className="pdf">
      <div className="row pager">
        <IconButton
          label={t('Console.templates.preview.pageBefore')}
          isDisabled={number <= 1}
          onPress={() => setNumber(number - 1)}
        >
          <ChevronLeft aria-hidden />
        </IconButton>
        <span className="number" role="status">
          {t('Console.templates.preview.pageOf', { page: number, pages: count })}
        </span>
        <IconButton
          label={t('Console.templates.preview.pageAfter')}
          isDisabled={number >= count}
          onPress={() => setNumber(number + 1)}
        >
          <ChevronRight aria-hidden />
        </IconButton>
      </div>
      <PdfPage document={document} number={number} />
    </div>
  );
}

function PdfPage({ document, number }: { document: PDFDocumentProxy; number: number }) {
  const { t } = useTexts();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [text, setText] = useState('');
  useEffect(() => {
    let isGone = false;
    const draw = async () => {
      const page = await document.getPage(number);
      const { width } = page.getViewport({ scale: 1 });
      const viewport = page.getViewport({ scale: PIXELS_WIDE / width });
      const target = canvas.current;
      if (isGone || !target) return;
      // Drawn aside first: one canvas takes one drawing at a time.
      const aside = new OffscreenCanvas(viewport.width, viewport.height) as unknown as HTMLCanvasElement;
      await page.render({ canvas: aside, viewport }).promise;
      const { items } = await page.getTextContent();
      if (isGone) return;
      target.width = aside.width;
      target.height = aside.height;
      target.getContext('2d')!.drawImage(aside, 0, 0);
      setText(items.map((item) => ('str' in item ? item.str : '')).join(' '));
    };
    void draw().catch((reason: unknown) => {
      if (!isGone) throw reason;
    });
    return () => {
      isGone = true;
    };
  }, [document, number]);
  return (
    <>
      <canvas
        ref={canvas}
        role="img"
        aria-label={t('Platform.lists.page', { 0: number })}
        className="pdf-page"
      />
      <p className="visually-hidden">{text}</p>
    </>
  );
}
