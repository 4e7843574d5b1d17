mod events;
mod refusals;
mod schedules;
