// The cells of one zone: hover and arrow keys show a GPU, click and Enter open it.
import { VisuallyHidden } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { type KeyboardEvent, type MouseEvent, useEffect, useMemo, useRef, useState } from 'react';
import { draw, type Picture } from './draw';
import { type FleetData, type FleetHost, valueText } from './fleet_data';
import { cellAt, hit, type Layout, layoutOf, moved, type Spot } from './layout';
import { type Colouring, type Key, placesOf } from './shades';

interface Props {
  zone: string;
  hosts: FleetHost[];
  data: FleetData;
  colouring: Colouring;
  keys: Key;
  cell: number;
  dark: boolean;
  onHost: (host: string) => void;
  onGpu: (host: string, place: number) => void;
}

/** Browsers refuse canvases that are too high. */
const highest = 16_000;

function useLayout(hosts: FleetHost[], width: number, cell: number): Layout {
  const shape = hosts.map((host) => `${host.name}=${host.gpus}`).join(' ');
  return useMemo(() => layoutOf(hosts.map((host) => host.gpus), width, cell), [shape, width, cell]);
}

function useDrawing(picture: Picture, width: number) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawn = useRef<Picture | undefined>(undefined);
  const { height } = picture.layout;
  const scale = Math.max(1, Math.min(Math.round(window.devicePixelRatio || 1), Math.floor(highest / Math.max(1, height))));
  useEffect(() => {
    const element = canvas.current;
    if (!element || width === 0) return;
    const size = [Math.ceil(width * scale), Math.ceil(height * scale)] as const;
    if (element.width !== size[0] || element.height !== size[1]) {
      [element.width, element.height] = size;
      drawn.current = undefined;
    }
    draw(element, drawn.current, picture, scale);
    drawn.current = picture;
  });
  return canvas;
}

function spotText(data: FleetData, host: FleetHost, gpu: number, colouring: Colouring): string {
  if (gpu < 0) return `${host.name}: ${host.state}, ${host.gpus} GPUs`;
  const shown = [...new Set<string>(['state', 'use', colouring])];
  const values = shown.map((column) => valueText(data, host, gpu, column));
  return `${host.name}, GPU ${gpu}: ${values.join(', ')}${host.state === 'ready' ? '' : `; host ${host.state}`}`;
}

function Frame({ layout, spot }: { layout: Layout; spot: Spot }) {
  const { x, y } = cellAt(layout, spot);
  const size = layout.cell + 3;
  return <div className="fleet-frame" style={{ left: x - 2, top: y - 2, width: size, height: size }} />;
}

function Tip({ layout, spot, text, width }: { layout: Layout; spot: Spot; text: string; width: number }) {
  const { x, y } = cellAt(layout, { ...spot, gpu: Math.max(0, spot.gpu) });
  const right = x > width / 2;
  const side = right ? { right: width - x - layout.cell } : { left: x };
  return <div className="fleet-tip" style={{ ...side, top: y + layout.cell + 6 }} aria-hidden>{text}</div>;
}

const same = (a: Spot | undefined, b: Spot | undefined) => a?.block === b?.block && a?.gpu === b?.gpu;

function useSpot(layout: Layout, open: (spot: Spot, host: boolean) => void) {
  const [spot, setSpot] = useState<Spot>();
  const [byKey, setByKey] = useState(false);
  const at = (event: MouseEvent) => hit(layout, event.nativeEvent.offsetX, event.nativeEvent.offsetY);
  const show = (next: Spot | undefined, key: boolean) => {
    setByKey(key);
    setSpot((now) => (same(now, next) ? now : next));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (spot && (event.key === 'Enter' || event.key === 'h')) open(spot, event.key === 'h');
    else if (event.key === 'Escape') show(undefined, true);
    else {
      const next = spot && spot.gpu >= 0 ? moved(layout, spot, event.key) : moved(layout, { block: 0, gpu: 0 }, event.key) && { block: 0, gpu: 0 };
      if (!next) return;
      show(next, true);
    }
    event.preventDefault();
    event.stopPropagation();
  };
  const events = {
    onMouseMove: (event: MouseEvent) => show(at(event), false),
    onMouseLeave: () => !byKey && show(undefined, false),
    onBlur: () => show(undefined, false),
    onClick: (event: MouseEvent) => {
      const clicked = at(event);
      if (clicked) open(clicked, clicked.gpu < 0);
    },
    onKeyDown,
  };
  return { spot, byKey, events };
}

export function ZoneMap({ zone, hosts, data, colouring, keys, cell, dark, onHost, onGpu }: Props) {
  const { ref, width } = useElementSize();
  const layout = useLayout(hosts, width, cell);
  const places = useMemo(() => placesOf(data, hosts, colouring, keys), [data, hosts, colouring, keys]);
  const canvas = useDrawing({ layout, places, hosts, shades: keys.shades, dark }, width);
  const { spot, byKey, events } = useSpot(layout, ({ block, gpu }, ofHost) => {
    const host = hosts[block];
    if (!host) return;
    if (ofHost) onHost(host.id);
    else onGpu(host.id, gpu);
  });
  const host = spot && hosts[spot.block];
  const shown = spot && host && spot.gpu < host.gpus ? spotText(data, host, spot.gpu, colouring) : '';
  return (
    <div ref={ref} className="fleet-zone">
      {width > 0 && (
        <canvas
          ref={canvas}
          style={{ width, height: layout.height, cursor: spot ? 'pointer' : 'default' }}
          tabIndex={0}
          role="application"
          aria-label={`GPUs in ${zone || 'no zone'}. Arrow keys move, Enter opens the GPU, h its host.`}
          {...events}
        />
      )}
      {spot && shown && spot.gpu >= 0 && <Frame layout={layout} spot={spot} />}
      {spot && shown && <Tip layout={layout} spot={spot} text={shown} width={width} />}
      <VisuallyHidden aria-live="polite">{byKey ? shown : ''}</VisuallyHidden>
    </div>
  );
}
