import { planText } from './start_form';

const plan = { zone: 'lon', fromStock: true, gpu: { model: 'H100', count: 1, pricePerHour: '2.49', currency: 'USD' }, inactivityTimeoutSeconds: 1800, maxRunSeconds: 0 };

test('a start says where it goes, what it costs, and when it stops', () => {
  expect(planText(plan)).toBe('From warm stock in lon · 2.49 USD per hour · stops after 30 min unused');
});

test('a price or rule that is not set is named as such', () => {
  expect(planText({ ...plan, fromStock: false, host: 'h-1', gpu: undefined, inactivityTimeoutSeconds: 0 })).toBe(
    'On a free host in lon (h-1) · no price is set · runs until it is stopped',
  );
  expect(planText({ ...plan, maxRunSeconds: 7200 })).toContain('stops after 30 min unused · stops after 2 h');
});
