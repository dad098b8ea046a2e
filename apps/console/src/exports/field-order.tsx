import { GripVertical } from 'lucide-react';
import type { Dispatch, SetStateAction } from 'react';
import { Button } from 'react-aria-components/Button';
import { GridList, GridListItem } from 'react-aria-components/GridList';
import { useDragAndDrop } from 'react-aria-components';
import { Checkbox } from '../components/choices';
import { useTexts } from '../texts/texts';

export interface ChosenField {
  id: string;
  name: string;
  isSelected: boolean;
}

interface FieldOrderProps {
  order: readonly ChosenField[];
  onChange: Dispatch<SetStateAction<ChosenField[]>>;
}

/** The fields of an export: chosen by a check, ordered by dragging, also with the keyboard. */
export function FieldOrder({ order, onChange }: FieldOrderProps) {
  const { t } = useTexts();
  const { dragAndDropHooks } = useDragAndDrop({
    getItems: (keys) => [...keys].map((key) => ({ 'text/plain': String(key) })),
    onReorder: ({ keys, target }) => {
      const moved = order.filter(({ id }) => keys.has(id));
      const others = order.filter(({ id }) => !keys.has(id));
      const at = others.findIndex(({ id }) => id === target.key) + (target.dropPosition === 'after' ? 1 : 0);
      onChange(others.toSpliced(at, 0, ...moved));
    },
  });
  // Not the selection of the list: what is selected there is dragged together. The list renders an item again only
  // when it changes, so an item must not hold the order of its last rendering.
  const toggle = (id: string) =>
    onChange((latest) =>
      latest.map((field) => (field.id === id ? { ...field, isSelected: !field.isSelected } : field)),
    );
  return (
    <section className="stack tight" aria-labelledby="fields">
      <h2 id="fields">{t('DataExchange.fields.selectedFields')}</h2>
      <p className="soft small">{t('Console.exports.fieldsHelp')}</p>
      <GridList
        className="panel field-order"
        aria-labelledby="fields"
        items={order}
        dragAndDropHooks={dragAndDropHooks}
      >
        {({ id, name, isSelected }) => (
          <GridListItem id={id} textValue={name} className="ordered">
            <Button slot="drag" className="grip">
              <GripVertical aria-hidden />
            </Button>
            <Checkbox isSelected={isSelected} onChange={() => toggle(id)}>
              {name}
            </Checkbox>
          </GridListItem>
        )}
      </GridList>
    </section>
  );
}
