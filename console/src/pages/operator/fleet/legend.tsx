// The shades of the map with their words, drawn as the cells are.
import { Group, Text } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { drawHostLine, drawShade } from './draw';
import type { Shade } from './shades';

const size = 16;

function Sample({ draw }: { draw: (pen: CanvasRenderingContext2D) => void }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const pen = canvas.current?.getContext('2d');
    if (!pen) return;
    pen.setTransform(2, 0, 0, 2, 0, 0);
    pen.clearRect(0, 0, size, size);
    draw(pen);
  });
  return <canvas ref={canvas} width={2 * size} height={2 * size} style={{ width: size, height: size }} aria-hidden />;
}

function Entry({ label, draw }: { label: string; draw: (pen: CanvasRenderingContext2D) => void }) {
  return (
    <Group component="li" gap={6} wrap="nowrap">
      <Sample draw={draw} />
      <Text component="span" fz="xs">{label}</Text>
    </Group>
  );
}

export function Legend({ shades, dark, flags }: { shades: Shade[]; dark: boolean; flags: boolean }) {
  const corner = (colour: string, reach: number) => (pen: CanvasRenderingContext2D) => {
    pen.strokeStyle = dark ? '#5a6170' : '#b5bcc8';
    pen.strokeRect(0.5, 0.5, size - 1, size - 1);
    pen.fillStyle = colour;
    pen.beginPath();
    pen.moveTo(size - reach, 0);
    pen.lineTo(size, 0);
    pen.lineTo(size, reach);
    pen.fill();
  };
  return (
    <Group component="ul" className="legend" gap="md" aria-label="Legend">
      {shades.map((shade) => <Entry key={shade.label} label={shade.label} draw={(pen) => drawShade(pen, shade, size, dark)} />)}
      {flags && <Entry label="faulty GPU" draw={corner('#e02b39', 12)} />}
      {flags && <Entry label="degraded GPU" draw={corner('#f5a524', 8)} />}
      <Entry label="silent host" draw={(pen) => drawHostLine(pen, 'silent', 0, size / 2, size)} />
      <Entry label="draining host" draw={(pen) => drawHostLine(pen, 'draining', 0, size / 2, size)} />
    </Group>
  );
}
