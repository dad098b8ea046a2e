import { GripVertical } from 'lucide-react';
import { useDragAndDrop } from 'react-aria-components';
import { Button } from 'react-aria-components/Button';
import { GridList, GridListItem } from 'react-aria-components/GridList';
import { Checkbox } from '../components/choices';
import type { FieldOrderProps } from './field-order';

/** The list in which fields are dragged, also with the keyboard. What is selected in it is dragged together. */
export function OrderedFields({
  order,
  onChange,
  onToggle,
}: FieldOrderProps & { onToggle: (id: string) => void }) {
  const { dragAndDropHooks } = useDragAndDrop({
    getItems: (keys) => [...keys].map((key) => ({ 'text/plain': String(key) })),
    onReorder: ({ keys, target }) => {
      const moved = order.filter(({ id }) => keys.has(id));
      const others = order.filter(({ id }) => !keys.has(id));
      const at = others.findIndex(({ id }) => id === target.key) + (target.dropPosition === 'after' ? 1 : 0);
      onChange(others.toSpliced(at, 0, ...moved));
    },
  });
  return (
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
          <Checkbox isSelected={isSelected} onChange={() => onToggle(id)}>
            {name}
          </Checkbox>
        </GridListItem>
      )}
    </GridList>
  );
}
