// Start an instance: what, on what, and the rest; the API is asked first whether it would go.
import { Button, Group, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Rocket } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import type { Schemas } from '../../api/client';
import { useWhoami } from '../../api/permissions';
import type { Problem } from '../../api/problem';
import { useRead } from '../../api/use_read';
import { useWould } from '../../api/use_would';
import { FieldGroup } from '../../parts/field_group';
import { placeErrors, restOf, type Values } from '../../parts/form_values';
import { PageFrame, Section } from '../../parts/page_frame';
import { ShowAs } from '../../parts/show_as';
import { AsyncView, Empty, Refusal } from '../../parts/states';
import { useDeed } from '../../parts/use_deed';
import { durationText, moneyText } from '../../parts/words';
import { instancePage } from './instance_kind';
import { createBody, fieldsOf, initialOf, planText, rememberTenant, suggestedOffer } from './start_form';
import { gpuText, OfferChoice, offerKey, WhatChoice } from './start_choices';

type Offer = Schemas['Offer'];
type Template = Schemas['InstanceTemplate'];

function placeText({ ready, available, reclaimable }: Offer): string {
  if (ready > 0) return 'from stock, ready in seconds';
  if (available > 0) return 'placed on a free host';
  return reclaimable > 0 ? 'placed where idle stock gives way' : 'no host is free now: it waits';
}

/** Shown until the API has answered the dry run. */
function offerText(offer: Offer, idleSeconds: number): string {
  const price = offer.price ? `${moneyText(offer.price, offer.currency)}/h` : 'no price is set';
  const idle = idleSeconds > 0 ? `stops after ${durationText(idleSeconds)} unused` : 'runs until it is stopped';
  return `${gpuText(offer)} in ${offer.zone}, ${placeText(offer)}, ${price}, ${idle}.`;
}

interface FormProps {
  template?: Template;
  offer: Offer;
  /** The offer is no longer in the list. */
  gone: boolean;
  ownTenant: string;
}

function StartForm({ template, offer, gone, ownTenant }: FormProps) {
  const [, go] = useLocation();
  const fields = fieldsOf(template, ownTenant === '');
  const [refused, setRefused] = useState<Problem>();
  const form = useForm<Values>({ initialValues: initialOf(fields, template), onValuesChange: () => setRefused(undefined) });
  useEffect(() => setRefused(undefined), [offerKey(offer)]);
  const body = createBody({ fields, values: form.values, template, offer, ownTenant });
  const complete = !gone && Boolean(body.tenantID && body.instanceID && (body.image || body.templateName));
  const would = useWould<Schemas['CreatedInstance']>({ path: '/gpu-instances', body, query: { zone: offer.zone }, complete, kinds: ['instance', 'host', 'stock'] });
  const started = () => {
    rememberTenant(String(body.tenantID));
    go(instancePage({ id: String(body.instanceID), tenantID: String(body.tenantID) }));
  };
  const deed = useDeed({ kinds: ['instance', 'stock'], done: `${String(body.instanceID)} starts.`, onDone: started });
  const refuse = (problem: Problem) => {
    const placed = placeErrors(fields, problem.errors);
    form.setErrors(placed.at);
    setRefused(restOf(problem, placed.others));
  };
  const submit = () => {
    setRefused(undefined);
    deed.mutate({ method: 'POST', path: '/gpu-instances', call: { body, query: { zone: offer.zone } } }, { onError: refuse });
  };
  const problem = refused ?? (would.error ?? undefined);
  const idle = Number(body.inactivityTimeoutSeconds ?? template?.inactivityTimeoutSeconds ?? 0);
  const say = () => {
    if (gone) return `${offer.spec} in ${offer.zone} is no longer offered: choose another one.`;
    if (problem) return 'It cannot start now.';
    return would.data?.plan ? planText(would.data.plan) : offerText(offer, idle);
  };
  return (
    <form onSubmit={form.onSubmit(submit)} noValidate>
      <Stack>
        <Section title="3 Options"><FieldGroup fields={fields} form={form} /></Section>
        {problem && <Refusal problem={problem} />}
        <Group>
          <Button type="submit" size="md" leftSection={<Rocket size={16} aria-hidden />} loading={deed.isPending} disabled={!complete}>Start</Button>
          <Text role="status">{say()}</Text>
        </Group>
        <ShowAs command="instance create" argument="instanceID" method="POST" path={`/gpu-instances?zone=${encodeURIComponent(offer.zone)}`} flags={{ zone: offer.zone }} body={body} />
      </Stack>
    </form>
  );
}

function Chosen({ templates, offers }: { templates: Template[]; offers: Offer[] }) {
  const [params, setParams] = useSearchParams();
  const who = useWhoami();
  const image = params.has('image');
  const template = image ? undefined : (templates.find(({ name }) => name === params.get('template')) ?? templates[0]);
  const on = params.get('on');
  const offer = offers.find((one) => offerKey(one) === on);
  const choose = (change: (next: URLSearchParams) => void) =>
    setParams((before) => {
      const next = new URLSearchParams(before);
      change(next);
      return next;
    }, { replace: true });
  const chooseOffer = (key: string) => choose((next) => next.set('on', key));
  // The first suggestion is a choice as any other: it stays, whatever is free later.
  const suggested = suggestedOffer(offers);
  useEffect(() => {
    if (on === null && suggested) chooseOffer(offerKey(suggested));
  });
  const last = useRef<Offer>(undefined);
  useEffect(() => {
    if (offer) last.current = offer;
  });
  const shown = offer ?? last.current;
  const chooseWhat = (name: string | undefined) =>
    choose((next) => {
      next.delete(name === undefined ? 'template' : 'image');
      next.set(name === undefined ? 'image' : 'template', name ?? '');
    });
  return (
    <Stack>
      <Section title="1 What"><WhatChoice templates={templates} chosen={template?.name} onChoose={chooseWhat} /></Section>
      <Section title="2 On what">
        {offers.length === 0
          ? <Empty text="No spec is offered yet. An operator makes one." command="hostler spec create h100-1 --cpu 8 --memory 32Gi --gpu-type 'H100 SXM5 80GB' --gpu-num 1" />
          : <OfferChoice offers={offers} chosen={offer} onChoose={chooseOffer} />}
        {on !== null && !shown && offers.length > 0 && <Text mt="sm" role="status">The chosen offer is gone: choose another one.</Text>}
      </Section>
      {shown && who && <StartForm key={template?.name ?? 'image'} template={template} offer={shown} gone={!offer} ownTenant={who.isOperator && !who.tenantID ? '' : who.tenantID} />}
    </Stack>
  );
}

export default function StartPage() {
  const templates = useRead('/v1/templates', { query: { limit: 100 } });
  const offers = useRead('/v1/offers', { query: { limit: 200 } }, { kinds: ['host', 'stock', 'instance', 'spec', 'price'], every: 15_000 });
  return (
    <PageFrame title="Start an instance">
      <AsyncView query={templates}>
        {({ items }) => <AsyncView query={offers}>{(list) => <Chosen templates={items} offers={list.items} />}</AsyncView>}
      </AsyncView>
    </PageFrame>
  );
}
