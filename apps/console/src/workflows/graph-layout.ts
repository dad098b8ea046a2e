import { Graph, layout, type Point } from '@dagrejs/dagre';

interface Drawn {
  states: readonly string[];
  transitions: readonly { name: string; from: string; to: string }[];
}

export interface GraphLayout {
  width: number;
  height: number;
  states: { state: string; x: number; y: number; width: number; height: number }[];
  /** In the order of the transitions; those of unknown states have none. */
  transitions: ({ path: string; label: Point } | undefined)[];
}

const STATE_HEIGHT = 44;
const CHARACTER_WIDTH = 7.6;
const widthOf = (text: string, padding: number) => Math.round(text.length * CHARACTER_WIDTH) + padding;

/** Where the states and transitions of a definition are drawn, from top to bottom. */
export function layoutOf({ states, transitions }: Drawn, nameOf: (state: string) => string): GraphLayout {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'TB', nodesep: 40, edgesep: 24, ranksep: 44, marginx: 12, marginy: 12 });
  for (const state of states)
    graph.setNode(state, { width: Math.max(widthOf(nameOf(state), 40), 110), height: STATE_HEIGHT });
  transitions.forEach(({ name, from, to }, index) => {
    if (!graph.hasNode(from) || !graph.hasNode(to)) return;
    graph.setEdge(from, to, { width: widthOf(name, 18), height: 26, labelpos: 'c' }, String(index));
  });
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return {
    width,
    height,
    states: states.map((state) => {
      const node = graph.node(state) as { x: number; y: number; width: number; height: number };
      const { width: wide, height: high } = node;
      return { state, x: node.x - wide / 2, y: node.y - high / 2, width: wide, height: high };
    }),
    transitions: transitions.map(({ from, to }, index) => {
      if (!graph.hasEdge(from, to, String(index))) return undefined;
      const edge = graph.edge(from, to, String(index)) as { points: Point[]; x: number; y: number };
      return { path: pathThrough(edge.points), label: { x: edge.x, y: edge.y } };
    }),
  };
}

/** A curve that touches the middle between each two of its points. */
export function pathThrough(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (!first) return '';
  const steps = rest.map((point, index) => {
    const next = rest[index + 1];
    if (!next) return `L${point.x},${point.y}`;
    return `Q${point.x},${point.y} ${(point.x + next.x) / 2},${(point.y + next.y) / 2}`;
  });
  return [`M${first.x},${first.y}`, ...steps].join(' ');
}
