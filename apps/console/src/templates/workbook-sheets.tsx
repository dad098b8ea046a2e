import { useQuery } from '@tanstack/react-query';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components/Tabs';
import readWorkbook from 'read-excel-file/universal';
import { Failure, Skeleton } from '../components/state';
import { useTexts } from '../texts/texts';

const ROWS_MAX = 200;

/** The sheets of a workbook as tables. */
export function WorkbookSheets({ content }: { content: Blob }) {
  const texts = useTexts();
  const { t } = texts;
  const { data: sheets, error } = useQuery({
    queryKey: ['workbook', content.size, content],
    queryFn: () => readWorkbook(content),
    structuralSharing: false,
    gcTime: 0,
  });
  const cellText = (value: unknown) => {
    if (value instanceof Date) return texts.date(value, { dateStyle: 'medium', timeZone: 'UTC' });
    if (typeof value === 'number') return texts.number(value, { maximumFractionDigits: 6 });
    if (typeof value === 'boolean') return t(`Platform.boolean.${value}`);
    return String(value ?? '');
  };
  if (error) return <Failure error={error} />;
  if (!sheets) return <Skeleton lines={4} height="2rem" />;
  return (
    <Tabs className="stack">
      <TabList aria-label={t('Console.templates.preview.sheets')} className="tabs">
        {sheets.map(({ sheet }) => (
          <Tab key={sheet} id={sheet} className="tab">
            {sheet}
          </Tab>
        ))}
      </TabList>
      {sheets.map(({ sheet, data }) => (
        <TabPanel key={sheet} id={sheet} className="table-frame">
          <table className="table sheet">
            <tbody>
              {data.slice(0, ROWS_MAX).map((row, index) => (
                <tr key={index}>
                  <th scope="row">{index + 1}</th>
                  {row.map((value, column) => (
                    <td key={column} className={typeof value === 'number' ? 'end' : undefined}>
                      {cellText(value)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </TabPanel>
      ))}
    </Tabs>
  );
}
