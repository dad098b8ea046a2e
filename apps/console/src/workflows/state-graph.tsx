import {
  BaseEdge,
  Controls,
  EdgeLabelRenderer,
  Handle,
  MarkerType,
  Position,
  ReactFlow,
  getViewportForBounds,
  type Edge,
  type EdgeProps,
  type Node,
  type NodeProps,
} from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import { useMemo, useRef } from 'react';
import { stateName, transitionName } from '../entities/state-name';
import { useTexts } from '../texts/texts';
import { layoutOf } from './graph-layout';
import './workflows.css';

/** How a part of the picture looks. */
export type Emphasis = 'current' | 'possible' | 'blocked' | 'wrong' | undefined;

export interface GraphSelection {
  kind: 'state' | 'transition';
  index: number;
}

export interface StateGraphProps {
  label: string;
  initialState: string;
  states: readonly string[];
  finalStates: readonly string[];
  transitions: readonly { name: string; from: string; to: string }[];
  emphasisOf: (part: GraphSelection) => Emphasis;
  selection?: GraphSelection | undefined;
  /** With it, states and transitions can be chosen. */
  onSelect?: (selection: GraphSelection | undefined) => void;
  /** With it, dragging from one state to another connects them. */
  onConnect?: (from: string, to: string) => void;
}

type StateNode = Node<
  {
    name: string;
    isInitial: boolean;
    isFinal: boolean;
    emphasis: Emphasis;
    isChosen: boolean;
    isConnectable: boolean;
  },
  'state'
>;
type TransitionEdge = Edge<
  {
    name: string;
    path: string;
    x: number;
    y: number;
    emphasis: Emphasis;
    isChosen: boolean;
    choose: (() => void) | undefined;
  },
  'transition'
>;

/** The controls lie at the bottom, where they must not cover a state. */
const besideControls = { x: 0.05, top: 0.05, bottom: '60px' } as const;

const MIN_ZOOM = 0.2;

const nodeTypes = { state: StateBox };
const edgeTypes = { transition: TransitionArrow };

/** A state machine as a picture. It is read aloud as one picture, and where it can be edited, part by part. */
export function StateGraph(props: StateGraphProps) {
  const { label, initialState, states, finalStates, transitions, emphasisOf, selection } = props;
  const { onSelect, onConnect } = props;
  const texts = useTexts();
  const drawing = useMemo(() => {
    const named = transitions.map((one) => ({ ...one, name: transitionName(texts, one.name) }));
    return layoutOf({ states, transitions: named }, (state) => stateName(texts, state));
  }, [states, transitions, texts]);
  const isChosen = (kind: GraphSelection['kind'], index: number) =>
    selection?.kind === kind && selection.index === index;
  const nodes: StateNode[] = drawing.states.map(({ state, x, y, width, height }, index) => ({
    id: state,
    type: 'state',
    position: { x, y },
    width,
    height,
    draggable: false,
    focusable: onSelect !== undefined,
    selectable: onSelect !== undefined,
    selected: isChosen('state', index),
    ariaLabel: stateName(texts, state),
    data: {
      name: stateName(texts, state),
      isInitial: state === initialState,
      isFinal: finalStates.includes(state),
      emphasis: emphasisOf({ kind: 'state', index }),
      isChosen: isChosen('state', index),
      isConnectable: onConnect !== undefined,
    },
  }));
  const edges = transitions.flatMap(({ name, from, to }, index): TransitionEdge[] => {
    const drawn = drawing.transitions[index];
    if (!drawn) return [];
    const emphasis = emphasisOf({ kind: 'transition', index });
    return [
      {
        id: String(index),
        type: 'transition',
        ariaLabel: `${transitionName(texts, name)}: ${stateName(texts, from)} → ${stateName(texts, to)}`,
        source: from,
        target: to,
        focusable: false,
        markerEnd: { type: MarkerType.ArrowClosed, width: 16, height: 16, color: colorOf(emphasis) },
        data: {
          name: transitionName(texts, name),
          path: drawn.path,
          ...drawn.label,
          emphasis,
          isChosen: isChosen('transition', index),
          choose: onSelect && (() => onSelect({ kind: 'transition', index })),
        },
      },
    ];
  });
  const isPicture = onSelect === undefined;
  const frame = useRef<HTMLDivElement>(null);
  return (
    <div
      ref={frame}
      className="state-graph"
      style={{ aspectRatio: `${Math.max(drawing.width, 200)} / ${Math.max(drawing.height, 120)}` }}
      role={isPicture ? 'img' : 'group'}
      aria-label={label}
      inert={isPicture}
    >
      <ReactFlow
        key={`${states.join('\n')} ${transitions.length}`}
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        onInit={({ setViewport }) => {
          // All of the drawing: what the library fits by itself are states, without the names beside them.
          const { width, height } = frame.current!.getBoundingClientRect();
          const padding = isPicture ? 0.02 : besideControls;
          const bounds = { x: 0, y: 0, width: drawing.width, height: drawing.height };
          void setViewport(getViewportForBounds(bounds, width, height, MIN_ZOOM, 1.1, padding));
        }}
        minZoom={MIN_ZOOM}
        maxZoom={1.6}
        nodesDraggable={false}
        nodesConnectable={onConnect !== undefined}
        elementsSelectable={!isPicture}
        panOnDrag={!isPicture}
        zoomOnScroll={false}
        preventScrolling={false}
        proOptions={{ hideAttribution: true }}
        ariaLabelConfig={{
          'node.a11yDescription.default': texts.t('Console.workflows.chooseByKey'),
          'controls.ariaLabel': texts.t('Console.workflows.size'),
          'controls.zoomIn.ariaLabel': texts.t('Console.workflows.zoomIn'),
          'controls.zoomOut.ariaLabel': texts.t('Console.workflows.zoomOut'),
          'controls.fitView.ariaLabel': texts.t('Console.workflows.fit'),
        }}
        {...(onSelect
          ? {
              onNodeClick: (_, { id }) => onSelect({ kind: 'state', index: states.indexOf(id) }),
              onPaneClick: () => onSelect(undefined),
              // By keyboard: Enter and space.
              onNodesChange: (changes) => {
                for (const change of changes)
                  if (change.type === 'select' && change.selected)
                    onSelect({ kind: 'state', index: states.indexOf(change.id) });
              },
            }
          : {})}
        {...(onConnect ? { onConnect: ({ source, target }) => onConnect(source, target) } : {})}
      >
        {!isPicture && <Controls showInteractive={false} orientation="horizontal" />}
      </ReactFlow>
    </div>
  );
}

const colorOf = (emphasis: Emphasis): string => {
  if (emphasis === 'possible') return 'var(--accent)';
  return emphasis === 'wrong' ? 'var(--bad)' : 'var(--line-strong)';
};

function StateBox({ data }: NodeProps<StateNode>) {
  const { name, isInitial, isFinal, emphasis, isChosen, isConnectable } = data;
  const looks = ['state-box', emphasis, isInitial && 'initial', isFinal && 'final', isChosen && 'chosen'];
  return (
    <div className={looks.filter(Boolean).join(' ')}>
      <Handle type="target" position={Position.Top} isConnectable={isConnectable} />
      {name}
      <Handle type="source" position={Position.Bottom} isConnectable={isConnectable} />
    </div>
  );
}

function TransitionArrow({ data, markerEnd }: EdgeProps<TransitionEdge>) {
  if (!data) return null;
  const { name, path, x, y, emphasis, isChosen, choose } = data;
  const looks = ['transition-name', emphasis, isChosen && 'chosen'].filter(Boolean).join(' ');
  const place = { transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` };
  return (
    <>
      <BaseEdge
        path={path}
        {...(markerEnd ? { markerEnd } : {})}
        className={['transition-line', emphasis].filter(Boolean).join(' ')}
      />
      <EdgeLabelRenderer>
        {choose ? (
          <button type="button" className={`${looks} nodrag nopan`} style={place} onClick={choose}>
            {name}
          </button>
        ) : (
          <span className={looks} style={place}>
            {name}
          </span>
        )}
      </EdgeLabelRenderer>
    </>
  );
}
