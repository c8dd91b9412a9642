// Submit a job: the program, the spec of its tasks, and how many; the API is asked first whether it could ever run.
import { Button, Group, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Send } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import type { Schemas } from '../../../api/client';
import { useWhoami } from '../../../api/permissions';
import type { Problem } from '../../../api/problem';
import { useRead } from '../../../api/use_read';
import { useWould } from '../../../api/use_would';
import { FieldGroup } from '../../../parts/field_group';
import { initialValues, placeErrors, restOf, type Values } from '../../../parts/form_values';
import { PageFrame, Section } from '../../../parts/page_frame';
import { ShowAs } from '../../../parts/show_as';
import { AsyncView, Empty, Refusal } from '../../../parts/states';
import { useDeed } from '../../../parts/use_deed';
import { OfferChoice, offerKey } from '../start_choices';
import { lastTenant, rememberTenant, suggestedOffer } from '../start_form';
import { jobPage } from './kind';
import { keptOf, programFields, sizeFields, specsOf, submitBody, submitText, valuesOfJob } from './submit_form';
import type { Job, Planned } from './words';

type Offer = Schemas['Offer'];

interface SpecProps {
  specs: Offer[];
  chosen: string;
  onChoose: (spec: string) => void;
}

function SpecChoice({ specs, chosen, onChoose }: SpecProps) {
  const offer = specs.find(({ spec }) => spec === chosen);
  if (specs.length === 0)
    return <Empty text="No spec is offered yet. An operator makes one." command="hostler spec create h100-1 --cpu 8 --memory 32Gi --gpu-type 'H100 SXM5 80GB' --gpu-num 1" />;
  return (
    <>
      <OfferChoice label="Spec of each task" offers={specs} chosen={offer} onChoose={(key) => onChoose(specs.find((one) => offerKey(one) === key)?.spec ?? '')} />
      {chosen && !offer && <Text mt="sm" role="status">{chosen} is not offered now: choose another one, or let the job wait for it.</Text>}
    </>
  );
}

interface FormProps {
  specs: Offer[];
  /** Submitted before: the form begins as it was. */
  before?: Job;
  /** Absent where one's own is meant. */
  tenant?: string;
}

function SubmitForm({ specs, before, tenant }: FormProps) {
  const [, go] = useLocation();
  const [search] = useSearchParams();
  const program = programFields(tenant);
  const fields = [...program, ...sizeFields];
  const [refused, setRefused] = useState<Problem>();
  const form = useForm<Values>({
    initialValues: initialValues(fields, before ? valuesOfJob(before) : Object.fromEntries(search)),
    onValuesChange: () => setRefused(undefined),
  });
  const [spec, setSpec] = useState(before?.specName ?? search.get('specName') ?? suggestedOffer(specs)?.spec ?? '');
  useEffect(() => setRefused(undefined), [spec]);
  const body = { ...keptOf(before), ...submitBody(fields, form.values, spec) };
  const complete = Boolean(body.name && body.image && spec && (tenant === undefined || body.tenantID));
  const would = useWould<Planned>({ path: '/v1/jobs', body, complete, kinds: ['host', 'spec', 'quota'] });
  const submitted = (answer: unknown) => {
    const job = answer as Job;
    if (tenant !== undefined) rememberTenant(job.tenantID);
    go(jobPage(job));
  };
  const deed = useDeed({ kinds: ['job'], done: `${String(body.name)} is submitted.`, onDone: submitted });
  const refuse = (problem: Problem) => {
    const { at, others } = placeErrors(fields, problem.errors);
    form.setErrors(at);
    setRefused(restOf(problem, others));
  };
  const submit = () => {
    setRefused(undefined);
    deed.mutate({ method: 'POST', path: '/v1/jobs', call: { body } }, { onError: refuse });
  };
  const problem = refused ?? (complete ? (would.error ?? undefined) : undefined);
  return (
    <form onSubmit={form.onSubmit(submit)} noValidate>
      <Stack>
        <Section title="1 Program"><FieldGroup fields={program} form={form} /></Section>
        <Section title="2 On what"><SpecChoice specs={specs} chosen={spec} onChoose={setSpec} /></Section>
        <Section title="3 How"><FieldGroup fields={sizeFields} form={form} /></Section>
        {problem && <Refusal problem={problem} />}
        {!problem && complete && would.data?.plan && <Text role="status" c={would.data.plan.victims.length > 0 ? 'orange' : undefined}>{would.data.plan.sentence}</Text>}
        <Group>
          <Button type="submit" size="md" leftSection={<Send size={16} aria-hidden />} loading={deed.isPending} disabled={!complete}>Submit</Button>
          <Text role="status">{problem ? 'It cannot be submitted as it is.' : submitText(body, specs.find((one) => one.spec === spec))}</Text>
        </Group>
        <ShowAs command="job submit" argument="name" method="POST" path="/v1/jobs" body={body} kind="job" />
      </Stack>
    </form>
  );
}

function Offered({ before }: { before?: Job }) {
  const who = useWhoami();
  const offers = useRead('/v1/offers', { query: { limit: 200 } }, { kinds: ['host', 'stock', 'instance', 'spec', 'price'], every: 15_000 });
  if (!who) return null;
  const tenant = who.isOperator && !who.tenantID ? (localStorage.getItem(lastTenant) ?? '') : undefined;
  if (!offers.data) return <AsyncView query={offers}>{() => null}</AsyncView>;
  // A refusal later takes nothing from the form.
  return <SubmitForm specs={specsOf(offers.data.items)} before={before} tenant={tenant} />;
}

function From({ id, tenantID }: { id: string; tenantID?: string }) {
  const before = useRead('/v1/jobs/{job}', { params: { job: id }, query: { tenantID } });
  if (!before.data) return <AsyncView query={before}>{() => null}</AsyncView>;
  return <Offered before={before.data} />;
}

export default function SubmitPage() {
  const [search] = useSearchParams();
  const from = search.get('from');
  return (
    <PageFrame title="Submit a job" up={{ to: '/jobs', label: 'Jobs' }} lead="It waits for its turn and for room, and runs to its end.">
      {from === null ? <Offered /> : <From id={from} tenantID={search.get('tenantID') ?? undefined} />}
    </PageFrame>
  );
}
