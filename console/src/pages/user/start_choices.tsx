// What to start, and on what: cards and a table of offers, each with its availability and price.
import { Group, Radio, SimpleGrid, Text } from '@mantine/core';
import type { Schemas } from '../../api/client';
import { StateBadge } from '../../parts/state_badge';
import { Money } from '../../parts/values';
import { bytesText } from '../../parts/words';

type Offer = Schemas['Offer'];
type Template = Schemas['InstanceTemplate'];

const imageValue = '';

interface WhatProps {
  templates: Template[];
  /** Absent: an image. */
  chosen: string | undefined;
  onChoose: (name: string | undefined) => void;
}

function Card({ value, title, help }: { value: string; title: string; help: string }) {
  return (
    <Radio.Card value={value} className="choice" aria-label={title}>
      <Group wrap="nowrap" align="flex-start" gap="sm">
        <Radio.Indicator />
        <div>
          <Text fw={600}>{title}</Text>
          <Text fz="sm" c="dimmed" lineClamp={3}>{help}</Text>
        </div>
      </Group>
    </Radio.Card>
  );
}

export function WhatChoice({ templates, chosen, onChoose }: WhatProps) {
  return (
    <Radio.Group value={chosen ?? imageValue} onChange={(value) => onChoose(value === imageValue ? undefined : value)} aria-label="What to start">
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }}>
        {templates.map(({ name, title, help }) => <Card key={name} value={name} title={title} help={help} />)}
        <Card value={imageValue} title="Image…" help="Any container image, with your command and ports." />
      </SimpleGrid>
    </Radio.Group>
  );
}

export const offerKey = ({ spec, zone, trust, isolation }: Offer) => [spec, zone, trust, isolation].join(' ');

function Availability({ offer }: { offer: Offer }) {
  if (offer.ready > 0) return <StateBadge state={`${offer.ready} warm, ${offer.available} free`} tone="ok" />;
  if (offer.available > 0) return <StateBadge state={`${offer.available} free`} tone="ok" />;
  if (offer.reclaimable > 0) return <StateBadge state={`${offer.reclaimable} from idle stock`} tone="busy" />;
  return <StateBadge state="none free" tone="warn" />;
}

export const gpuText = ({ gpus, gpuType }: Offer) => (gpuType ? `${gpus} × ${gpuType}` : 'no GPU');

function OfferCard({ offer }: { offer: Offer }) {
  return (
    <Radio.Card value={offerKey(offer)} className="choice" aria-label={`${offer.spec} in ${offer.zone}`}>
      <Group wrap="nowrap" align="flex-start" gap="sm">
        <Radio.Indicator />
        <div style={{ flex: 1, minWidth: 0 }}>
          <Group justify="space-between" gap="xs"><Text fw={600}>{gpuText(offer)}</Text><Text fw={600}><Money amount={offer.price} currency={offer.currency} per="h" /></Text></Group>
          <Text fz="sm" c="dimmed">{offer.spec} · {offer.cpu} CPU · {offer.memory}{offer.gpuMemoryBytes > 0 && ` · ${bytesText(offer.gpuMemoryBytes)} each`}</Text>
          <Group justify="space-between" gap="xs" mt={4}><Text fz="sm">{offer.location || offer.zone}</Text><Availability offer={offer} /></Group>
        </div>
      </Group>
    </Radio.Card>
  );
}

interface OfferProps {
  offers: Offer[];
  chosen?: Offer;
  onChoose: (key: string) => void;
  label?: string;
}

export function OfferChoice({ offers, chosen, onChoose, label = 'On what to start it' }: OfferProps) {
  return (
    <Radio.Group value={chosen ? offerKey(chosen) : ''} onChange={onChoose} aria-label={label}>
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
        {offers.map((offer) => <OfferCard key={offerKey(offer)} offer={offer} />)}
      </SimpleGrid>
    </Radio.Group>
  );
}
