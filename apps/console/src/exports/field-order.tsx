import { GripVertical } from 'lucide-react';
import { Suspense, type Dispatch, type SetStateAction } from 'react';
import { Checkbox } from '../components/choices';
import { lazyPart } from '../components/lazy-part';
import { useTexts } from '../texts/texts';

const OrderedFields = lazyPart(
  () => import('./ordered-fields'),
  ({ OrderedFields }) => OrderedFields,
);

export interface ChosenField {
  id: string;
  name: string;
  isSelected: boolean;
}

export interface FieldOrderProps {
  order: readonly ChosenField[];
  onChange: Dispatch<SetStateAction<ChosenField[]>>;
}

/** The fields of an export: chosen by a check, and ordered by dragging as soon as that is loaded. */
export function FieldOrder({ order, onChange }: FieldOrderProps) {
  const { t } = useTexts();
  // A list that drags renders an item again only when it changes, so an item must not hold the order of its last
  // rendering.
  const toggle = (id: string) =>
    onChange((latest) =>
      latest.map((field) => (field.id === id ? { ...field, isSelected: !field.isSelected } : field)),
    );
  return (
    <section className="stack tight" aria-labelledby="fields">
      <h2 id="fields">{t('DataExchange.fields.selectedFields')}</h2>
      <p className="soft small">{t('Console.exports.fieldsHelp')}</p>
      <Suspense fallback={<UnorderedFields order={order} onToggle={toggle} />}>
        <OrderedFields order={order} onChange={onChange} onToggle={toggle} />
      </Suspense>
    </section>
  );
}

interface UnorderedFieldsProps {
  order: readonly ChosenField[];
  onToggle: (id: string) => void;
}

/** Looks as the list that drags. */
function UnorderedFields({ order, onToggle }: UnorderedFieldsProps) {
  return (
    <div className="panel field-order" role="group" aria-labelledby="fields">
      {order.map(({ id, name, isSelected }) => (
        <div key={id} className="ordered">
          <span className="grip">
            <GripVertical aria-hidden />
          </span>
          <Checkbox isSelected={isSelected} onChange={() => onToggle(id)}>
            {name}
          </Checkbox>
        </div>
      ))}
    </div>
  );
}
