mod descent;
mod events;
mod refusals;
mod schedules;
